/** The MessageLog port: written by workflow-log, read by the gateway. */
import { type LogFilter, type TenantId } from "@posthaste/domain";
import { type LogEntry, type MessageLog } from "@posthaste/ports";
import { type Connection } from "../connection.ts";
import { createGather } from "../gather.ts";
import { type Index } from "../indexes.ts";
import { insertMissing } from "../insert-missing.ts";
import { anyOf, archivedConditions, isByTerm, termIndexes } from "../query/conditions.ts";
import { digitsOf, type Placed } from "../query/placed.ts";
import { readPage, type Scan } from "../query/read-page.ts";
import { shown } from "../query/shown.ts";
import { createdId, entryFrom, rowsOf } from "./rows.ts";

const collection = "message_log";

export const messageLogIndexes: readonly Index[] = [
  { collection, key: { tenant: 1, place: 1 } },
  { collection, key: { "item.message.id": 1 } },
  ...termIndexes(collection),
];

const removedPerCallMax = 1_000;

type Appended = Parameters<MessageLog["append"]>[0][number];

export function createMessageLog({ again, collection: open }: Connection): MessageLog {
  const log = open<Placed<LogEntry>>(collection);
  // Each partition of the bus hands over its own: together they are one write.
  const append = createGather(writeMissing, { bytesOf });

  return {
    writtenBy: "facts",
    append: async (entries) => {
      await append(entries);
    },
    list: async (tenant, filter, page) => {
      const { items, ...next } = await readPage(again, log, scanOf(tenant, filter), page);
      return { items: items.map(entryFrom), ...next };
    },
    sweep: async (tenant, before, limit) => {
      const messages = new Set<string>();
      // Ends when nothing is old enough, or when the rest is of further messages.
      for (;;) {
        const rows = await oldest(tenant, before);
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

  async function writeMissing(entries: readonly Appended[]): Promise<readonly true[]> {
    const rows = entries.flatMap(({ message, fact }) => rowsOf(message, fact));
    const missing = new Map(rows.map((row) => [row._id, row]));
    const accepted = entries.flatMap(({ message, fact }) => (fact ? createdId(message.id) : []));
    for (const id of await present(accepted)) missing.delete(id);
    await insertMissing(again, log, [...missing.values()]);
    return entries.map(() => true);
  }

  /** Mostly CREATED is there by the time of the fact, and to ask costs a third of what it costs to be refused (FerretDB). */
  async function present(ids: string[]): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const found = await again(() =>
      log.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray(),
    );
    return found.map(({ _id }) => _id);
  }

  function oldest(tenant: TenantId, before: number): Promise<readonly Placed<LogEntry>[]> {
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

const scanOf = (tenant: TenantId, filter: LogFilter): Scan<LogEntry> => ({
  tenant,
  filter,
  conditions: {
    ...archivedConditions(filter),
    ...anyOf({ "item.event.state": filter.states, hosts: filter.hosts, path: filter.paths }),
  },
  isById: filter.messageIds !== undefined || isByTerm(filter),
  bytesOf,
  rowsPerReply: 100,
  bodyFields: ["item.fact.response.body"],
  cut: ({ fact, ...entry }, bodyBytesMax) => {
    if (!fact?.response) return { ...entry, ...(fact && { fact }) };
    const { response } = fact;
    const body = shown(response.body, bodyBytesMax, entry.message);
    return { ...entry, fact: { ...fact, response: { ...response, body } } };
  },
});

const bytesOf = ({ fact }: Pick<LogEntry, "fact">): number => fact?.response?.body.length ?? 0;
