/** Decides which requests are changes for the audit log, and how the log names the changed resource. */
import { isChanging } from "@posthaste/domain";
import { type Endpoint, type EndpointSpec } from "./endpoint.ts";

/** Reports whether a request is a change. Publishes and dry runs are not. */
export const isChange = <Spec extends EndpointSpec>(
  row: Pick<Endpoint<Spec>, "kind" | "isAudited">,
  query: Spec["query"],
): boolean => isChanging(row.kind) && !isDryRun(query) && (row.isAudited?.(query) ?? true);

const isDryRun = (query: unknown): boolean =>
  typeof query === "object" && query !== null && "dryRun" in query && query.dryRun === true;

/** Returns the path with its parameters filled in, and after it the name in the body if the row has one. */
export function resourceOf<Spec extends EndpointSpec>(
  row: Pick<Endpoint<Spec>, "path" | "namedBy">,
  params: Readonly<Record<string, string | readonly string[]>>,
  body: Spec["body"],
): string {
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? ""));
  const named = row.namedBy?.(body);
  return named === undefined ? path : `${path}/${named}`;
}
