/** `DELETE /v2/messages`: which live messages to cancel (protocol/qstash.md §1.4). */
import { type Fault, type LogFilter, isFault } from "@posthaste/domain";
import { messageFilterNames, parseMessageFilter } from "./message-filter.ts";
import { integer, readQuery, several } from "./query-values.ts";

export type CancelQuery = {
  /** Neither ids nor anything else: all. `messageIds` stand above all other filters. */
  readonly filter: Omit<LogFilter, "states">;
  readonly limit: number;
};

const cancelParameters: ReadonlySet<string> = new Set([
  ...messageFilterNames,
  "host",
  "path",
  "count",
  "async",
]);

const countDefault = 100;
const countMax = 500;

/** `search` is what follows the `?`. */
export function parseCancelQuery(search: string): CancelQuery | Fault {
  const values = readQuery(search, cancelParameters);
  if (isFault(values)) return values;
  const filter = parseMessageFilter(values);
  if (isFault(filter)) return filter;
  const hosts = several(values, ["host"]);
  if (isFault(hosts)) return hosts;
  const paths = several(values, ["path"], true);
  if (isFault(paths)) return paths;
  const limit = integer(values, "count", { min: 1, max: countMax }) ?? countDefault;
  if (isFault(limit)) return limit;
  const { messageIds } = filter;
  if (messageIds) return { filter: { messageIds }, limit: messageIds.length };
  return { filter: { ...filter, ...(hosts && { hosts }), ...(paths && { paths }) }, limit };
}
