/** The filters that all lists of messages have in common (docs/design/wire#lists-and-cursors: any of in a filter, all of between filters). */
import {
  type Fault,
  isFault,
  type LiveFilter,
  type MessageFilter,
  messageId,
} from "@posthaste/domain";
import { type QueryValues, integer, parameterFault, several } from "./query-values.ts";

/** Key of the filter ← names of the parameter. A URL may hold a comma, so it is taken whole. */
const filters = [
  { key: "urls", names: ["url"], whole: true },
  { key: "groups", names: ["topicName"], whole: false },
  { key: "scheduleIds", names: ["scheduleId"], whole: false },
  { key: "queueNames", names: ["queueName"], whole: false },
  { key: "labels", names: ["label"], whole: false },
  { key: "flowControlKeys", names: ["flowControlKey"], whole: false },
  { key: "callerIps", names: ["callerIp", "callerIP"], whole: false },
] as const;

const messageIdNames = ["messageId", "messageIds"];

export const messageFilterNames: readonly string[] = [
  ...messageIdNames,
  ...filters.flatMap(({ names }): readonly string[] => names),
  "fromDate",
  "toDate",
];

/** A filter of live messages as a caller would name it. */
export function filterJson(filter: LiveFilter): Readonly<Record<string, readonly string[]>> {
  const { hosts, paths, from, to } = filter;
  const given = [
    ...filters.map(({ key, names: [name] }) => [name, filter[key]] as const),
    ["host", hosts] as const,
    ["path", paths] as const,
    ["fromDate", from === undefined ? undefined : [String(from)]] as const,
    ["toDate", to === undefined ? undefined : [String(to)]] as const,
  ];
  return Object.fromEntries(
    given.flatMap(([name, values]) => (values === undefined ? [] : [[name, values]])),
  );
}

type FilterKey = (typeof filters)[number]["key"];

export function parseMessageFilter(values: QueryValues): MessageFilter | Fault {
  const found: { [K in FilterKey]?: readonly string[] } = {};
  for (const { key, names, whole } of filters) {
    const given = several(values, names, whole);
    if (isFault(given)) return given;
    if (given) found[key] = given;
  }
  const ids = several(values, messageIdNames);
  if (isFault(ids)) return ids;
  const dates = parseDates(values);
  if (isFault(dates)) return dates;
  return { ...(ids && { messageIds: ids.map(messageId) }), ...found, ...dates };
}

/** The last moment that a Date can hold. */
export const dateMax = 8_640_000_000_000_000;

function parseDates(values: QueryValues): Pick<MessageFilter, "from" | "to"> | Fault {
  const from = integer(values, "fromDate", { min: 0, max: dateMax });
  if (isFault(from)) return from;
  const to = integer(values, "toDate", { min: 0, max: dateMax });
  if (isFault(to)) return to;
  if (from !== undefined && to !== undefined && from > to) {
    return parameterFault("fromDate", "must not be after toDate");
  }
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}
