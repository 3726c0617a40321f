/** Turns a caller's filter into conditions on documents. Each list means any of its values; all lists must match. */
import { type MessageFilter, UnknownField } from "@posthaste/domain";
import { type Document } from "mongodb";
import { type Index } from "../indexes.ts";

/** A type that does not compile without a condition for each field of the filter. Times are conditions on the place (`placesIn`). */
export type Conditions<Filter> = {
  readonly [Field in Exclude<keyof Filter, "from" | "to">]-?: (
    asked: NonNullable<Filter[Field]>,
  ) => Document;
};

/** Throws for a field of a newer build: ignoring it would match more than requested. */
export function conditionsOf<Filter extends object>(
  table: Conditions<Filter>,
  filter: Filter,
): Document {
  const isTold = (field: keyof Filter): field is keyof Conditions<Filter> => field in table;
  const conditionsOn = <Field extends keyof Conditions<Filter>>(field: Field): Document => {
    const asked = filter[field];
    return asked === undefined || asked === null ? {} : table[field](asked);
  };
  const all: Document[] = [];
  for (const field in filter) {
    if (field === "from" || field === "to") continue;
    if (!isTold(field)) throw new UnknownField(field);
    all.push(conditionsOn(field));
  }
  return all.reduce(bothOf, {});
}

export const bothOf = (a: Document, b: Document): Document =>
  Object.keys(b).some((field) => field in a) ? { $and: [a, b] } : { ...a, ...b };

/** Matches any of the values; an array field matches by any element. An empty list matches nothing. */
export const among =
  (field: string) =>
  (values: readonly (string | number | null)[]): Document => ({ [field]: { $in: values } });

/** Is like `among`, with the condition that the field exists, so that the server uses the index of documents that have it. */
const amongThoseWith =
  (field: string) =>
  (values: readonly string[]): Document => {
    const presence = presenceOf(field);
    const exists = { $exists: true };
    return presence === field
      ? { [field]: { $in: values, ...exists } }
      : { [field]: { $in: values }, [presence]: exists };
  };

/** Every message has a list of labels. If the list is not empty, its first element exists. */
const presenceOf = (field: string): string => (field.endsWith("labels") ? `${field}.0` : field);

/** Rare fields: each has an index of the documents that have it, ordered by place. */
const termFields = {
  groups: "origin.group.name",
  scheduleIds: "origin.scheduleId",
  queueNames: "origin.queueName",
  flowControlKeys: "policy.flow.key",
  labels: "policy.labels",
} as const satisfies { readonly [Field in keyof MessageFilter]?: string };
const termNames = Object.keys(termFields) as readonly (keyof typeof termFields)[];

const messageConditionsAt = (at: string): Conditions<MessageFilter> => ({
  messageIds: among(`${at}.id`),
  urls: among(`${at}.url`),
  callerIps: among(`${at}.origin.callerIp`),
  groups: amongThoseWith(`${at}.${termFields.groups}`),
  scheduleIds: amongThoseWith(`${at}.${termFields.scheduleIds}`),
  queueNames: amongThoseWith(`${at}.${termFields.queueNames}`),
  flowControlKeys: amongThoseWith(`${at}.${termFields.flowControlKeys}`),
  labels: amongThoseWith(`${at}.${termFields.labels}`),
});

const archived = "item.message";
export const archivedConditions = messageConditionsAt(archived);
export const recordConditions = messageConditionsAt("message");

/** Reports whether the filter asks for a rare field. */
export const asksForTerm = (filter: MessageFilter): boolean =>
  termNames.some((name) => filter[name] !== undefined);

export const termIndexes = (
  collection: string,
  at: string = archived,
  order: "place" | "_id" = "place",
): readonly Index[] =>
  Object.values(termFields).map((field) => ({
    collection,
    key: { tenant: 1, [`${at}.${field}`]: 1, [order]: 1 },
    having: presenceOf(`${at}.${field}`),
    is: "wanted",
  }));

export function termConditions(filter: MessageFilter): Document | undefined {
  for (const name of termNames) {
    const values = filter[name];
    if (values !== undefined) return recordConditions[name](values);
  }
  return undefined;
}

const alone: ReadonlySet<string> = new Set(["from", "to"]);

/** Reports whether an index leads to the matching documents only. */
export const isByTerm = (filter: object): boolean => {
  const asked = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined || alone.has(name) ? [] : name,
  );
  const [name] = asked;
  return asked.length === 1 && name !== undefined && name in termFields;
};
