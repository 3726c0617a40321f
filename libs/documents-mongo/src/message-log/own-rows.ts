/**
 * Rows of the log that are the documents of delivered records (ADR 205). They are plain messages only, so a list that
 * filters by a rare field, or by another event, finds none here and sends no query.
 */
import { type LogFilter, type MessageId, ownStates, type TenantId } from "@posthaste/domain";
import { type Collection, type Document } from "mongodb";
import { type Connection } from "../connection.ts";
import { removeOrBury } from "../messages/bury.ts";
import { rowFormat, type StoredRecord } from "../messages/stored.ts";
import {
  among,
  asksForTerm,
  type Conditions,
  conditionsOf,
  recordConditions,
} from "../query/conditions.ts";
import { digitsOf, type Placed } from "../query/placed.ts";
import { type Scan, type Within } from "../query/read-page.ts";
import { type LogItem, ownItem } from "./rows.ts";

const ownConditions: Conditions<LogFilter> = {
  ...recordConditions,
  messageIds: among("_id"),
  hosts: among("told.hosts"),
  paths: among("told.path"),
  states: () => ({}),
};

export const ownPlace = "told.place";

type OwnRow = Pick<StoredRecord, "_id" | "tenant" | "shard" | "message" | "told" | "endedAt">;

const within: Within<LogItem> = {
  place: ownPlace,
  fields: { tenant: 1, shard: 1, message: 1, told: 1, endedAt: 1 },
  rowFrom: (document) => ownRowFrom(document as OwnRow),
};

function ownRowFrom({ _id, tenant, shard, message, told, endedAt }: OwnRow): Placed<LogItem> {
  if (told === undefined || endedAt === undefined)
    throw new Error(`${_id} has no entry for the log`);
  const configuration = { ...message, id: _id, tenant, shard };
  const item = ownItem(configuration, told, endedAt);
  return { _id, tenant, place: told.place, item };
}

/** The fields from which the names of such a row's events are derived. */
export const ownNames = { "message.createdAt": 1, told: 1, endedAt: 1 } as const;

export const ownNamesFrom = (document: Document) => {
  const { _id, message, told, endedAt } = document as OwnRow;
  const named = { id: _id, createdAt: message.createdAt };
  if (told === undefined || endedAt === undefined)
    throw new Error(`${_id} has no entry for the log`);
  return { _id, item: ownItem(named, told, endedAt) };
};

/** Returns undefined if no such row can match. */
export const ownScanOf = (tenant: TenantId, filter: LogFilter): Scan<LogItem> | undefined =>
  asksForTerm(filter) || filter.states?.every((state) => !ownStates.includes(state))
    ? undefined
    : {
        tenant,
        filter,
        conditions: conditionsOf(ownConditions, filter),
        isById: filter.messageIds !== undefined,
        bytesOf: () => 0,
        bodyFields: [],
        cut: (item) => item,
        within,
      };

/** Matches rows that contain an event at or before the time `at`. */
export const tellingUpTo = (at: number): Document => ({
  $or: [{ "message.createdAt": { $lte: at } }, { "told.startedAt": { $lte: at } }],
});

const removedPerCallMax = 1_000;
const isRowAlone = { format: rowFormat };

/** Removes rows from before a time, except rows that are still records. Resolves to the ids of at most `limit`. */
export async function sweepOwnRows(
  { again, clock }: Pick<Connection, "again" | "clock">,
  messages: Collection<StoredRecord>,
  tenant: TenantId,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<readonly MessageId[]> {
  const swept: MessageId[] = [];
  while (swept.length < limit) {
    const portion = Math.min(limit - swept.length, removedPerCallMax);
    const old = { tenant, [ownPlace]: { $lt: digitsOf(before), $exists: true }, ...isRowAlone };
    const found = await again(() =>
      messages
        .find(old, { projection: { repeatableUntil: 1 } })
        .sort({ [ownPlace]: 1 })
        .limit(portion)
        .toArray(),
    );
    await removeOrBury({ again, clock, messages }, found, isRowAlone);
    swept.push(...found.map(({ _id }) => _id));
    if (found.length < portion) break;
  }
  return swept;
}
