/** The DeadLetters port. Settle writes its dead letters itself (rows.ts). */
import { type DatabaseSync } from "node:sqlite";
import {
  type DeadLetterFilter,
  type MessageId,
  type PageRequest,
  type TenantId,
} from "@posthaste/domain";
import { type DeadLetters } from "@posthaste/ports";
import { type Archive } from "../archive.ts";
import { integer, type Row } from "../database/rows.ts";
import { firstIdAt, openLetterReading } from "./reading.ts";
import { type Store } from "../messages/store.ts";
import { readPage } from "../query/keyset.ts";
import { openTermReading } from "../terms.ts";
import { freedTogether, type Sweep, sweepInCommits } from "../query/sweep.ts";

const removedPerCommitMax = 200;

export function openDeadLetters(
  store: Store,
  archive: Archive,
  reader: DatabaseSync,
  breathe: () => Promise<void>,
): DeadLetters {
  const { db, writer, tenants, letters, names, configurations } = store;
  const read = openLetterReading(reader);
  const rare = openTermReading(reader);
  const positionsOf = (ids: readonly MessageId[]): readonly number[] => [
    ...new Set(ids.flatMap((id) => names.find(id)?.position ?? [])),
  ];
  const remove = db.prepare(
    "DELETE FROM dead_letters WHERE tenant = ? AND id = ? RETURNING message, body_of",
  );
  const oldest = db.prepare(`
    SELECT l.key, coalesce(length(l.response), 0) + coalesce(length(b.bytes), 0) AS bytes
    FROM dead_letters l LEFT JOIN bodies b ON b.position = l.body_of
    WHERE l.tenant = ?1 AND l.id < ?2 AND l.failed_at < ?3 ORDER BY l.id LIMIT ?4`);
  const oldOf = (tenant: number, before: number, limit: number): readonly Row[] =>
    oldest.all(tenant, firstIdAt(before), before, limit);
  const count = reader.prepare(
    "SELECT count(*) AS n FROM (SELECT 1 FROM dead_letters WHERE tenant = ? LIMIT ?)",
  );
  const removeByKey = db.prepare(
    "DELETE FROM dead_letters WHERE key = ? RETURNING message, body_of",
  );

  const dropOrphans = (removed: readonly Row[]): number => {
    const positions = removed.flatMap((row) => [integer(row["message"]), integer(row["body_of"])]);
    if (positions.length > 0) configurations.removeOrphans(JSON.stringify([...new Set(positions)]));
    return removed.length;
  };

  const old: Sweep = {
    isDue: (tenant, before) => oldOf(tenant, before, 1).length > 0,
    sweep: (tenant, before, limit) =>
      dropOrphans(
        freedTogether(oldOf(tenant, before, limit)).flatMap((row) =>
          removeByKey.all(integer(row["key"])),
        ),
      ),
  };

  return {
    insert: (given) =>
      writer.write(() => {
        for (const letter of given) {
          letters.put(
            tenants.take(letter.message.tenant),
            archive.placeWhole(letter.message),
            letter,
          );
        }
      }, "accepted"),
    count: async (tenantId, max) => {
      const tenant = tenants.find(tenantId);
      return tenant === undefined ? 0 : integer(count.get(tenant, max)?.["n"]);
    },
    get: async (tenantId, id) => {
      const tenant = tenants.find(tenantId);
      return tenant === undefined ? undefined : read.one(tenant, id);
    },
    list: async (tenantId: TenantId, filter: DeadLetterFilter, page: PageRequest) => {
      const tenant = tenants.find(tenantId);
      if (tenant === undefined) return { items: [], positions: [] };
      const { messageIds } = filter;
      const positions = messageIds ? positionsOf(messageIds) : rare(tenantId, filter);
      return readPage({ ...read.scan({ tenant, filter, page, positions }), breathe }, page);
    },
    remove: async (tenantId, ids) => {
      const tenant = tenants.find(tenantId);
      if (tenant === undefined) return 0;
      let removed = 0;
      for (const id of ids)
        removed += await writer.write(() => dropOrphans(remove.all(tenant, id)), "accepted");
      return removed;
    },
    sweep: (tenantId, before, limit) =>
      sweepInCommits(writer, old, removedPerCommitMax, [tenants.find(tenantId), before, limit]),
  };
}
