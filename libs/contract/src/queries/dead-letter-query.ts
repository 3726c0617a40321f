/** `GET /v2/dlq`, and the filters of its bulk operations (protocol/qstash.md §1.8). */
import { type DeadLetterFilter, type Fault, dlqId, isFault } from "@posthaste/domain";
import { messageFilterNames, parseMessageFilter } from "./message-filter.ts";
import { type PageQuery, pageNames, parsePage } from "./page.ts";
import { type QueryValues, parseInteger, readQuery, several } from "./query-values.ts";

export type DeadLetterQuery = { readonly filter: DeadLetterFilter; readonly page: PageQuery };

/** No `host` and no `path`: they are refused like any unknown name. */
export const deadLetterParameters: ReadonlySet<string> = new Set([
  "dlqIds",
  ...messageFilterNames,
  "responseStatus",
  ...pageNames,
]);

const countMax = 100;

/** `search` is what follows the `?`. A bulk operation without any filter means all. */
export function parseDeadLetterQuery(search: string): DeadLetterQuery | Fault {
  const values = readQuery(search, deadLetterParameters);
  if (isFault(values)) return values;
  const filter = parseFilter(values);
  if (isFault(filter)) return filter;
  const page = parsePage(values, { countDefault: countMax, countMax, order: "earliestFirst" });
  return isFault(page) ? page : { filter, page };
}

function parseFilter(values: QueryValues): DeadLetterFilter | Fault {
  const filter = parseMessageFilter(values);
  if (isFault(filter)) return filter;
  const ids = several(values, ["dlqIds"]);
  if (isFault(ids)) return ids;
  const statuses = parseStatuses(values);
  if (isFault(statuses)) return statuses;
  return {
    ...filter,
    ...(ids && { ids: ids.map(dlqId) }),
    ...(statuses && { responseStatuses: statuses }),
  };
}

function parseStatuses(values: QueryValues): readonly number[] | undefined | Fault {
  const texts = several(values, ["responseStatus"]);
  if (!texts || isFault(texts)) return texts;
  const statuses: number[] = [];
  for (const text of texts) {
    const status = parseInteger("responseStatus", text, { min: 0, max: 999 });
    if (isFault(status)) return status;
    statuses.push(status);
  }
  return statuses;
}
