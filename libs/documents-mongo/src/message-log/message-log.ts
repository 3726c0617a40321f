/** The MessageLog port: written by workflow-log and by deliverers, read by the gateway. */
import {
  configurationBytes,
  type LogEvent,
  type MessageId,
  type TenantId,
} from "@posthaste/domain";
import { type MessageLog } from "@posthaste/ports";
import { type Collection } from "mongodb";
import { type Connection } from "../connection.ts";
import { createGather } from "../writes/gather.ts";
import { type Index } from "../indexes.ts";
import { insertTogether } from "../writes/insert-together.ts";
import { termIndexes } from "../query/conditions.ts";
import { collectionName, type StoredRecord } from "../messages/stored.ts";
import { digitsOf, type Placed } from "../query/placed.ts";
import { eventCountIndexes } from "./counts.ts";
import { ownPlace, sweepOwnRows } from "./own-rows.ts";
import { readLog } from "./reading.ts";
import { isOfCreated, type LogItem, type LogRow, rowId, rowsOf } from "./rows.ts";
import { watchTail } from "./tail.ts";
import { idsOf } from "../query/ids-of.ts";

const collection = "message_log";

export const messageLogIndexes: readonly Index[] = [
  { collection, key: { tenant: 1, place: 1 }, is: "needed" },
  { collection, key: { "item.message.id": 1 }, is: "wanted" },
  ...eventCountIndexes,
  ...termIndexes(collection),
];

const removedPerCallMax = 1_000;

type End = Pick<LogEvent, "attempt" | "state"> & { readonly id: MessageId };

export type EndsOfLog = Pick<MessageLog, "append"> & {
  readonly lacking: (ends: readonly End[]) => Promise<readonly MessageId[]>;
};

export function endsOfLog(connection: Connection): EndsOfLog {
  const log = createMessageLog(connection);
  const rows = connection.collection<LogRow>(collection);
  return {
    append: (entries) => log.append(entries),
    lacking: async (ends) => {
      const there = new Set(await present(connection, rows, ends.map(nameOf)));
      return ends.flatMap((end) => (there.has(nameOf(end)) ? [] : end.id));
    },
  };
}

const nameOf = ({ id, ...event }: End): string => rowId(id, event);

const present = (
  { again }: Connection,
  log: Collection<LogRow>,
  ids: readonly string[],
): Promise<readonly string[]> =>
  ids.length > 0 ? idsOf(again, log, { _id: { $in: [...ids] } }) : Promise.resolve([]);

type Appended = Parameters<MessageLog["append"]>[0][number];

export function createMessageLog(connection: Connection): MessageLog {
  const { again, collection: open, counts, db, heavy } = connection;
  const log = open<LogRow>(collection);
  const messages = open<StoredRecord>(collectionName);
  const listed = {
    log: heavy.collection<Placed<LogItem>>(collection),
    own: heavy.collection<Placed<LogItem>>(collectionName),
  };
  // Each partition of the bus hands its entries over separately; all are appended in one write.
  const append = createGather(writeMissing, { bytesOf });

  return {
    writtenBy: "facts",
    append: async (entries) => {
      await append(entries);
    },
    list: (tenant, filter, page) => readLog(heavy, listed, tenant, filter, page),
    counts: async (tenant, from, to) => (await counts?.read(tenant, from, to)) ?? [],
    watch: (tenant, grown) =>
      watchTail(
        connection,
        [
          { rows: open(collection), place: "place" },
          { rows: open(collectionName), place: ownPlace },
        ],
        tenant,
        grown,
      ),
    sweep: async (tenant, before, limit) => {
      await counts?.sweep(tenant, before);
      const swept = new Set<string>();
      // Ends when no row is old enough, or when the remaining rows are of further messages.
      for (;;) {
        const rows = await oldest(tenant, before);
        const keys: string[] = [];
        for (const { _id, item } of rows) {
          const { id } = item.message;
          if (swept.size >= limit && !swept.has(id)) continue;
          swept.add(id);
          keys.push(_id);
        }
        if (keys.length > 0) await again(() => log.deleteMany({ _id: { $in: keys } }));
        if (keys.length < removedPerCallMax) break;
      }
      const left = limit - swept.size;
      const own = await sweepOwnRows(connection, messages, tenant, { before, limit: left });
      return new Set([...swept, ...own]).size;
    },
  };

  async function writeMissing(entries: readonly Appended[]): Promise<readonly true[]> {
    const rows = entries.map(({ message, fact }) => ({ fact, rows: rowsOf(message, fact) }));
    const missing = new Map(rows.flatMap((of) => of.rows.map((row) => [row._id, row])));
    // Mostly CREATED is written before the fact arrives, and looking it up costs less than a refused insert.
    const accepted = rows.flatMap((of) => (of.fact ? of.rows.filter(isOfCreated) : []));
    const known = await present(
      connection,
      log,
      accepted.map(({ _id }) => _id),
    );
    for (const id of known) missing.delete(id);
    const inserts = [...missing.values()];
    const refused = await again(() => insertTogether(db, log, inserts));
    for (const [n, { tenant, item }] of inserts.entries())
      if (!refused.has(n))
        for (const event of [...(item.earlier ?? []), item.event])
          // CREATED may be in two rows, so it is counted when its record is inserted.
          if (event.state !== "CREATED") counts?.add(tenant, event);
    return entries.map(() => true);
  }

  function oldest(tenant: TenantId, before: number): Promise<readonly LogRow[]> {
    return again(() =>
      log
        .find(
          { tenant, place: { $lt: digitsOf(before) } },
          { projection: { "item.message.id": 1 } },
        )
        .sort({ place: 1 })
        .limit(removedPerCallMax)
        .toArray(),
    );
  }
}

const bytesOf = ({ fact, message }: Appended): number =>
  (fact?.response?.body.length ?? 0) + configurationBytes(message);
