/** What `DELETE /v2/messages` is about: ids or filters, in the query or in a JSON body. */
import { type Fault, isFault, type LiveFilter, type MessageId } from "@posthaste/domain";
import { type QueryRow } from "../endpoints/endpoint.ts";
import { messageFilterNames, parseMessageFilter } from "./message-filter.ts";
import { flag, integer, type QueryValues, readQuery, several } from "./query-values.ts";
import { type SelectedByBody, selectedBy, selectionBody } from "./selection.ts";

const cancelNames: ReadonlySet<string> = new Set([
  ...messageFilterNames,
  "host",
  "path",
  "async",
  "count",
  "dryRun",
]);

export const cancelQuery: QueryRow<QueryValues> = {
  names: cancelNames,
  parse: (search) => readQuery(search, cancelNames),
};
export const cancelBody = selectionBody(cancelNames);

export type CancelSelection = { readonly dryRun: boolean } & (
  | { readonly ids: readonly MessageId[] }
  /** An empty filter: all. */
  | {
      readonly filter: LiveFilter;
      /** So many, in one call. Absent: all, by a bulk action. */
      readonly count: number | undefined;
      /** The answer does not wait for the end. */
      readonly async: boolean;
    }
);

const countMax = 500;

/** Ids stand above everything else. `none`: a list was given, and it is empty. */
export function parseCancelSelection(
  query: QueryValues,
  body: SelectedByBody,
): CancelSelection | "none" | Fault {
  const values = selectedBy(query, body);
  if (values === "none" || isFault(values)) return values;
  const given = parseMessageFilter(values);
  if (isFault(given)) return given;
  const hosts = several(values, ["host"]);
  if (isFault(hosts)) return hosts;
  const paths = several(values, ["path"], true);
  if (isFault(paths)) return paths;
  const count = integer(values, "count", { min: 1, max: countMax });
  if (isFault(count)) return count;
  const dryRun = flag(values, "dryRun");
  if (isFault(dryRun)) return dryRun;
  const async = flag(values, "async");
  if (isFault(async)) return async;
  const { messageIds: ids, ...filter } = given;
  if (ids) return { dryRun, ids };
  return {
    dryRun,
    filter: { ...filter, ...(hosts && { hosts }), ...(paths && { paths }) },
    count,
    async,
  };
}
