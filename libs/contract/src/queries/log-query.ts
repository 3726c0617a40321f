/** `GET /v2/events` and `GET /v2/logs` (protocol/qstash.md §1.9). */
import { type Fault, type LogFilter, type LogState, isFault, logStates } from "@posthaste/domain";
import { messageFilterNames, parseMessageFilter } from "./message-filter.ts";
import { type PageQuery, pageNames, parsePage } from "./page.ts";
import { type QueryValues, parameterFault, readQuery, several, single } from "./query-values.ts";

export type LogQuery = {
  readonly filter: LogFilter;
  readonly page: PageQuery;
  /** Answer one item for each message, with its events. */
  readonly byMessage: boolean;
};

export const logParameters: ReadonlySet<string> = new Set([
  ...messageFilterNames,
  "state",
  "host",
  "path",
  ...pageNames,
  "groupBy",
]);

const eventsMax = 1_000;
const messagesMax = 10;

/** `search` is what follows the `?`. */
export function parseLogQuery(search: string): LogQuery | Fault {
  const values = readQuery(search, logParameters);
  if (isFault(values)) return values;
  const filter = parseFilter(values);
  if (isFault(filter)) return filter;
  const groupBy = single(values, "groupBy");
  if (isFault(groupBy)) return groupBy;
  if (groupBy !== undefined && groupBy !== "messageId") {
    return parameterFault("groupBy", "must be messageId");
  }
  const byMessage = groupBy !== undefined;
  const countMax = byMessage ? messagesMax : eventsMax;
  const page = parsePage(values, { countDefault: countMax, countMax, order: "latestFirst" });
  return isFault(page) ? page : { filter, page, byMessage };
}

function parseFilter(values: QueryValues): LogFilter | Fault {
  const filter = parseMessageFilter(values);
  if (isFault(filter)) return filter;
  const hosts = several(values, ["host"]);
  if (isFault(hosts)) return hosts;
  const paths = several(values, ["path"], true);
  if (isFault(paths)) return paths;
  const states = parseStates(values);
  if (isFault(states)) return states;
  return {
    ...filter,
    ...(hosts && { hosts }),
    ...(paths && { paths }),
    ...(states && { states }),
  };
}

/** Beside the states themselves: a pseudo-state, and the spelling with two Ls. */
const stateNames: ReadonlyMap<string, readonly LogState[]> = new Map<string, readonly LogState[]>([
  ...logStates.map((state): [string, readonly LogState[]] => [state, [state]]),
  ["CANCELLED", ["CANCELED"]],
  ["IN_PROGRESS", ["ACTIVE", "RETRY", "ERROR"]],
]);

function parseStates(values: QueryValues): readonly LogState[] | undefined | Fault {
  const names = several(values, ["state"]);
  if (!names || isFault(names)) return names;
  const states = new Set<LogState>();
  for (const name of names) {
    const meant = stateNames.get(name);
    if (!meant)
      return parameterFault("state", `must be one of ${[...stateNames.keys()].join(", ")}`);
    for (const state of meant) states.add(state);
  }
  return [...states];
}
