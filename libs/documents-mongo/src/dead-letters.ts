/** The DeadLetters port: one document for each letter, with the message's body and the last answer. */
import {
  type DeadLetter,
  type DeadLetterFilter,
  type DlqId,
  type TenantId,
} from "@posthaste/domain";
import { type DeadLetters } from "@posthaste/ports";
import { bytes } from "./bytes.ts";
import { type Connection } from "./connection.ts";
import { type Index } from "./indexes.ts";
import { insertMissing } from "./writes/insert-missing.ts";
import {
  among,
  archivedConditions,
  type Conditions,
  conditionsOf,
  isByTerm,
  termIndexes,
} from "./query/conditions.ts";
import { digitsOf, type Placed, placeOf } from "./query/placed.ts";
import { largeBounds, readPage, type Scan } from "./query/read-page.ts";
import { shown } from "./query/shown.ts";
import { removeSome } from "./query/ids-of.ts";

export const deadLettersName = "dead_letters";

export const deadLetterIndexes: readonly Index[] = [
  { collection: deadLettersName, key: { tenant: 1, place: 1 }, is: "needed" },
  { collection: deadLettersName, key: { "item.message.id": 1 }, is: "wanted" },
  ...termIndexes(deadLettersName),
];

const removedPerCallMax = 500;

export function createDeadLetters({ again, collection: open, heavy }: Connection): DeadLetters {
  const letters = open<Placed<DeadLetter>>(deadLettersName);
  const listed = heavy.collection<Placed<DeadLetter>>(deadLettersName);

  return {
    insert: async (given) => {
      await insertMissing(again, letters, given.map(rowOf));
    },
    count: (tenant, limit) =>
      heavy.again(tenant)(() =>
        listed.countDocuments({ tenant }, { limit, maxTimeMS: heavy.msMax }),
      ),
    get: async (tenant, id) => {
      const row = await again(() => letters.findOne({ _id: keyOf(tenant, id), tenant }));
      return row ? letterFrom(row.item) : undefined;
    },
    list: async (tenant, filter, page) => {
      const scan = scanOf(tenant, filter);
      const { items, ...rest } = await readPage(heavy, listed, scan, page, largeBounds);
      return { items: items.map(letterFrom), ...rest };
    },
    remove: async (tenant, ids) => {
      if (ids.length === 0) return 0;
      const keys = ids.map((id) => keyOf(tenant, id));
      return again(
        async () => (await letters.deleteMany({ _id: { $in: keys }, tenant })).deletedCount,
      );
    },
    sweep: async (tenant, before, limit) => {
      const old = { tenant, place: { $lt: digitsOf(before) } };
      let swept = 0;
      // Ends when no further letter is old enough, or at `limit`.
      while (swept < limit) {
        const bounds = {
          sort: { place: 1 },
          limit: Math.min(limit - swept, removedPerCallMax),
        } as const;
        const removed = await removeSome(again, letters, old, bounds);
        if (removed === 0) break;
        swept += removed;
      }
      return swept;
    },
  };
}

/** The tenant is part of the key: ids end in a short hash, so two tenants might share one. */
const keyOf = (tenant: TenantId, id: DlqId): string => `${tenant}/${id}`;

function rowOf(letter: DeadLetter): Placed<DeadLetter> {
  const { tenant } = letter.message;
  return {
    _id: keyOf(tenant, letter.id),
    tenant,
    // Ordered as ids are, also if their times differ in width.
    place: placeOf(letter.failedAt, letter.id),
    item: letter,
  };
}

const scanOf = (tenant: TenantId, filter: DeadLetterFilter): Scan<DeadLetter> => ({
  tenant,
  filter,
  conditions: conditionsOf(letterConditions(tenant), filter),
  isById: filter.ids !== undefined || filter.messageIds !== undefined || isByTerm(filter),
  bytesOf,
  bodyFields: ["item.message.body", "item.response.body"],
  cut: ({ message, response, ...letter }, bodyBytesMax) => ({
    ...letter,
    message: { ...message, body: shown(message.body, bodyBytesMax, message) },
    ...(response && {
      response: { ...response, body: shown(response.body, bodyBytesMax, message) },
    }),
  }),
});

const letterConditions = (tenant: TenantId): Conditions<DeadLetterFilter> => ({
  ...archivedConditions,
  ids: (ids) => among("_id")(ids.map((id) => keyOf(tenant, id))),
  // A status of 0 means no answer (docs/design/wire#dead-letters). Then the field is absent, and a query for null finds it.
  responseStatuses: (statuses) =>
    among("item.response.status")(statuses.map((each) => each || null)),
});

const bytesOf = ({ message, response }: DeadLetter): number =>
  message.body.length + (response?.body.length ?? 0);

const letterFrom = (stored: DeadLetter): DeadLetter => ({
  ...stored,
  message: { ...stored.message, body: bytes(stored.message.body) },
  ...(stored.response && {
    response: { ...stored.response, body: bytes(stored.response.body) },
  }),
});
