/** What a caller's filter asks of the documents. Each list: any of; between lists: all of. */
import { type MessageFilter, UnknownField } from "@posthaste/domain";
import { type Document } from "mongodb";
import { type Index } from "../indexes.ts";

/** A field that stands in the filter alone does not compile. Times are asked of the document's place (`placesIn`). */
export type Conditions<Filter> = {
  readonly [Field in Exclude<keyof Filter, "from" | "to">]-?: (
    asked: NonNullable<Filter[Field]>,
  ) => Document;
};

/** Throws for a field of a newer build: read as absent it would mean more than was asked. */
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

/** Two conditions on one field must both hold. */
export const bothOf = (a: Document, b: Document): Document =>
  Object.keys(b).some((field) => field in a) ? { $and: [a, b] } : { ...a, ...b };

/** A field that is an array answers with any of its values; an empty list nothing answers. */
export const among =
  (field: string) =>
  (values: readonly (string | number | null)[]): Document => ({ [field]: { $in: values } });

/** As `among`, and says that the documents have the field, so that the server takes the index of those that have it. */
const amongThoseWith =
  (field: string) =>
  (values: readonly string[]): Document => {
    const presence = presenceOf(field);
    const exists = { $exists: true };
    return presence === field
      ? { [field]: { $in: values, ...exists } }
      : { [field]: { $in: values }, [presence]: exists };
  };

/** All messages have a list of labels: of those that have one, it has a first. */
const presenceOf = (field: string): string => (field.endsWith("labels") ? `${field}.0` : field);

/** Rare fields: each has an index of the documents that have it, in the order of their places. */
const termFields = {
  groups: "origin.group.name",
  scheduleIds: "origin.scheduleId",
  queueNames: "origin.queueName",
  flowControlKeys: "policy.flow.key",
  labels: "policy.labels",
} as const satisfies { readonly [Field in keyof MessageFilter]?: string };
const termNames = Object.keys(termFields) as readonly (keyof typeof termFields)[];

/** `at`: where the documents have their message. */
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
/** Conditions on the rows of an archive. */
export const archivedConditions = messageConditionsAt(archived);
/** Conditions on records. */
export const recordConditions = messageConditionsAt("message");

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
    is: "wanted",
  }));

/** Returns the condition of one term on records; undefined when the filter does not have the term. */
export function termConditions(filter: MessageFilter): Document | undefined {
  for (const name of termNames) {
    const values = filter[name];
    if (values !== undefined) return recordConditions[name](values);
  }
  return undefined;
}

const alone: ReadonlySet<string> = new Set(["from", "to"]);

/** An index leads to what is wanted, and to nothing else. */
export const isByTerm = (filter: object): boolean => {
  const asked = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined || alone.has(name) ? [] : name,
  );
  const [name] = asked;
  return asked.length === 1 && name !== undefined && name in termFields;
};
