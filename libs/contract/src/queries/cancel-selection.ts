/** The messages that `DELETE /v2/messages` cancels: by ids or filters, in the query or in a JSON body. */
import { type Fault, isFault, type LiveFilter, type MessageId } from "@posthaste/domain";
import { type QueryRow } from "../endpoints/endpoint.ts";
import { namesOf, readFields } from "./fields.ts";
import { liveFields, messageFields } from "./message-filter.ts";
import { flag, integer, type QueryValues, readQuery } from "./query-values.ts";
import { type SelectedByBody, selectedBy, selectionBody } from "./selection.ts";

const cancelNames: ReadonlySet<string> = new Set([
  ...namesOf(messageFields),
  ...namesOf(liveFields),
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
  /** An empty filter selects all. */
  | {
      readonly filter: LiveFilter;
      /** The most messages that one call cancels. Absent for all, by a bulk action. */
      readonly count: number | undefined;
      readonly async: boolean;
    }
);

const countMax = 500;

/** Selects messages. Ids take precedence over everything else. Returns `none` for an empty list. */
export function parseCancelSelection(
  query: QueryValues,
  body: SelectedByBody,
): CancelSelection | "none" | Fault {
  const values = selectedBy(query, body);
  if (values === "none" || isFault(values)) return values;
  const ids = messageFields.messageIds.read(values);
  if (isFault(ids)) return ids;
  const filter = readFields(liveFields, values);
  if (isFault(filter)) return filter;
  const count = integer(values, "count", { min: 1, max: countMax });
  if (isFault(count)) return count;
  const dryRun = flag(values, "dryRun");
  if (isFault(dryRun)) return dryRun;
  const async = flag(values, "async");
  if (isFault(async)) return async;
  return ids ? { dryRun, ids } : { dryRun, filter, count, async };
}
