/** What a caller's filter asks of the documents. Each list: any of; between lists: all of. */
import { type MessageFilter } from "@posthaste/domain";
import { type Index } from "../indexes.ts";
import { type Document } from "mongodb";

/** Of documents that have the message `at` a field. Times are asked of the document's place. */
export const messageConditions = (filter: MessageFilter, at: string): Document =>
  anyOf({
    [`${at}.id`]: filter.messageIds,
    [`${at}.url`]: filter.urls,
    [`${at}.origin.group.name`]: filter.groups,
    [`${at}.origin.scheduleId`]: filter.scheduleIds,
    [`${at}.origin.queueName`]: filter.queueNames,
    [`${at}.origin.callerIp`]: filter.callerIps,
    [`${at}.policy.flow.key`]: filter.flowControlKeys,
    [`${at}.policy.labels`]: filter.labels,
  });

/**
 * What few documents have and are asked for. Each has an index of the documents that have it, in the order of their
 * places; the server takes it for a query that says so itself.
 */
const termFields = {
  groups: "origin.group.name",
  scheduleIds: "origin.scheduleId",
  queueNames: "origin.queueName",
  flowControlKeys: "policy.flow.key",
  labels: "policy.labels",
} as const satisfies { readonly [Field in keyof MessageFilter]?: string };
const termNames = Object.keys(termFields) as readonly (keyof typeof termFields)[];

/** All messages have a list of labels: of those that have one, it has a first. */
const presenceOf = (field: string): string => (field.endsWith("labels") ? `${field}.0` : field);

const archived = "item.message";

/** `at`: where the documents have their message. `order`: the field of their order. */
export const termIndexes = (
  collection: string,
  at: string = archived,
  order: "place" | "_id" = "place",
): readonly Index[] =>
  Object.values(termFields).map((field) => ({
    collection,
    key: { tenant: 1, [`${at}.${field}`]: 1, [order]: 1 },
    having: presenceOf(`${at}.${field}`),
  }));

/** What one of them asks, and says that the documents have it, so that its index is taken; undefined: the filter has none. */
export function termConditions(filter: MessageFilter, at: string): Document | undefined {
  const name = termNames.find((each) => filter[each] !== undefined);
  return name && saying({ [`${at}.${termFields[name]}`]: { $in: filter[name] } }, name, at);
}

const saying = (conditions: Document, name: (typeof termNames)[number], at: string): Document => {
  const field = presenceOf(`${at}.${termFields[name]}`);
  const asked = conditions[field] as Document | undefined;
  return { ...conditions, [field]: { ...asked, $exists: true } };
};

/** Of rows of an archive, with what their indexes ask to be said. */
export const archivedConditions = (filter: MessageFilter): Document =>
  termNames
    .filter((name) => filter[name] !== undefined)
    .reduce(
      (conditions, name) => saying(conditions, name, archived),
      messageConditions(filter, archived),
    );

const alone: ReadonlySet<string> = new Set(["from", "to"]);

/** An index leads to what is wanted, and to nothing else. */
export const isByTerm = (filter: object): boolean => {
  const asked = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined || alone.has(name) ? [] : name,
  );
  const [name] = asked;
  return asked.length === 1 && name !== undefined && name in termFields;
};

/** A field that is an array answers with any of its values; a list that is absent asks nothing, an empty one nothing answers. */
export const anyOf = (
  lists: Readonly<Record<string, readonly (string | number | null)[] | undefined>>,
): Document =>
  Object.fromEntries(
    Object.entries(lists).flatMap(([field, values]) =>
      values === undefined ? [] : [[field, { $in: values }]],
    ),
  );
