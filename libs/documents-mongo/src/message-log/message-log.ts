/** The MessageLog port: written by workflow-log, read by the gateway. */
import { type LogFilter } from "@posthaste/domain";
import { type LogEntry, type MessageLog } from "@posthaste/ports";
import { type Document } from "mongodb";
import { type Connection } from "../connection.ts";
import { type Index } from "../indexes.ts";
import { insertMissing } from "../insert-missing.ts";
import { anyOf, messageConditions } from "../query/conditions.ts";
import { digitsOf, type Placed } from "../query/placed.ts";
import { readPage } from "../query/read-page.ts";
import { entryFrom, rowsOf } from "./rows.ts";

const collection = "message_log";

export const messageLogIndexes: readonly Index[] = [
  { collection, key: { tenant: 1, place: 1 } },
  { collection, key: { "item.message.id": 1 } },
  // For sweeping.
  { collection, key: { place: 1 } },
];

const removedPerCallMax = 1_000;

export function createMessageLog({ again, collection: open }: Connection): MessageLog {
  const log = open<Placed<LogEntry>>(collection);

  return {
    append: async (entries) => {
      const rows = entries.flatMap(({ message, fact }) => rowsOf(message, fact));
      const byId = new Map(rows.map((row) => [row._id, row]));
      await insertMissing(again, log, [...byId.values()]);
    },
    list: async (tenant, filter, page) => {
      const scan = { tenant, filter, conditions: conditionsOf(filter), bytesOf };
      const { items, ...next } = await readPage(again, log, scan, page);
      return { items: items.map(entryFrom), ...next };
    },
    sweep: async (before, limit) => {
      const messages = new Set<string>();
      // Ends when nothing is old enough, or when the rest is of further messages.
      for (;;) {
        const rows = await oldest(before);
        const keys: string[] = [];
        for (const { _id, item } of rows) {
          const { id } = item.message;
          if (messages.size >= limit && !messages.has(id)) continue;
          messages.add(id);
          keys.push(_id);
        }
        if (keys.length > 0) await again(() => log.deleteMany({ _id: { $in: keys } }));
        if (keys.length < removedPerCallMax) return messages.size;
      }
    },
  };

  function oldest(before: number): Promise<readonly Placed<LogEntry>[]> {
    return again(() =>
      log
        .find({ place: { $lt: digitsOf(before) } }, { projection: { "item.message.id": 1 } })
        .sort({ place: 1 })
        .limit(removedPerCallMax)
        .toArray(),
    );
  }
}

const conditionsOf = (filter: LogFilter): Document => ({
  ...messageConditions(filter),
  ...anyOf({ "item.event.state": filter.states, hosts: filter.hosts, path: filter.paths }),
});

const bytesOf = ({ fact }: LogEntry): number => fact?.response?.body.length ?? 0;
