/** The filters that all lists of messages have in common (docs/design/wire#lists-and-cursors: any of in a filter, all of between filters). */
import {
  type Fault,
  isFault,
  type LiveFilter,
  type MessageFilter,
  messageId,
} from "@posthaste/domain";
import {
  addressValue,
  integer,
  nameValue,
  parameterFault,
  type QueryValues,
  several,
  severalOf,
  type ValueForm,
} from "./query-values.ts";

/** A URL may hold a comma, so it is taken whole. */
type Values = "whole" | "any" | ValueForm;

/** Key of the filter ← names of the parameter. */
const filters = [
  { key: "urls", names: ["url"], values: "whole" },
  { key: "groups", names: ["topicName"], values: nameValue },
  { key: "scheduleIds", names: ["scheduleId"], values: nameValue },
  { key: "queueNames", names: ["queueName"], values: nameValue },
  { key: "labels", names: ["label"], values: "any" },
  { key: "flowControlKeys", names: ["flowControlKey"], values: "any" },
  { key: "callerIps", names: ["callerIp", "callerIP"], values: addressValue },
] as const satisfies readonly { key: string; names: readonly string[]; values: Values }[];

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
  for (const { key, names, values: form } of filters) {
    const given =
      typeof form === "string"
        ? several(values, names, form === "whole")
        : severalOf(form, values, names);
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
