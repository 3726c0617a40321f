/** Reads the parameters of a request by the row of its endpoint: path, query, body. */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { type AskedOf, type Endpoint, type EndpointSpec, faultOfNames } from "@posthaste/contract";
import { type Fault, fault, isFault, type Plan } from "@posthaste/domain";
import { type BodyBudget, readBody } from "./bodies/body.ts";

export type Asking = {
  readonly params: Readonly<Record<string, string | readonly string[]>>;
  readonly search: URLSearchParams;
  readonly budget: BodyBudget;
  /** The tenant and address that are charged for the body in memory. */
  readonly owner: { readonly tenant: string; readonly address: string };
  readonly plan?: Plan;
};

const empty = new Uint8Array(0);

/** Refuses an encoded body, which would be misread. */
function faultOfEncoding(headers: IncomingMessage["headers"]): Fault | undefined {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  return encoding === "" || encoding === "identity"
    ? undefined
    : fault(
        "encoding_not_read",
        "Content-Encoding: must be identity or absent, as bodies are not decoded",
      );
}

/**
 * Returns the request's parameters, or the first fault in the order of path, query and body: a body is read only when
 * path and query are valid.
 */
export async function askedOf<Spec extends EndpointSpec>(
  row: Endpoint<Spec>,
  res: ServerResponse<IncomingMessage>,
  { params, search, budget, owner, plan }: Asking,
): Promise<AskedOf<Spec> | Fault> {
  const param = (name: string): string => {
    const value = params[name];
    return typeof value === "string" ? value : "";
  };
  const badName = faultOfNames(row, param);
  if (badName) return badName;
  const query = row.query.parse(search.toString());
  if (isFault(query)) return query;
  const encoded = row.body.bytesMax > 0 ? faultOfEncoding(res.req.headers) : undefined;
  if (encoded) return encoded;
  const bytesMax = (plan && row.body.bytesMaxBy?.(plan)) ?? row.body.bytesMax;
  const bytes = bytesMax === 0 ? empty : await readBody(res, { bytesMax, budget, owner });
  if (isFault(bytes)) return bytes;
  const body = row.body.parse(bytes);
  return isFault(body) ? body : { param, query, body };
}
