/**
 * Keeps the bodies of ended messages (ADR 204), and of the answers that delivered them (ADR 187).
 *
 * (1) The body of a delivered whole row stays in `bodies` beside the row, which is its log: keeping it writes
 *     nothing. Such bodies are swept in the order of positions, and `kept_up_to` says how far.
 * (2) The removal of any other record notes the kept body in `kept`. Children of a group publish share the body of
 *     their fan-out.
 * (3) A redacted body is removed with its record.
 * (4) The settle writes an answer into `answers`. The answer is removed with the body, or when a body would be.
 */
import { type DatabaseSync, type StatementSync } from "node:sqlite";
import { type KeptBodies } from "@posthaste/ports";
import { integer, type Row } from "./database/rows.ts";
import { bodyFrom } from "./messages/configurations.ts";
import { type Store } from "./messages/store.ts";
import { positionAt } from "./messages/positions.ts";
import { freedTogether, type Sweep, sweepInCommits } from "./query/sweep.ts";
import { isLate, isOldRow } from "./log/own.ts";

/** Bodies removed per transaction, of each kind. */
const sweptPerCommitMax = 500;

export type EmbeddedKeptBodies = KeptBodies & {
  /** Removes the kept bodies of all tenants, unless `isClosed`. */
  readonly giveWay: (isClosed: () => boolean) => Promise<void>;
};

export function openKeptBodies(store: Store, diskShare: () => Promise<number>): EmbeddedKeptBodies {
  const { db, clock, names, tenants, writer } = store;
  const wholes = openKeptWholes(store);
  const noted = openNoted(store);
  const all = db.prepare("SELECT key FROM tenants");
  const find = db.prepare(`
    SELECT b.bytes, b.crc AS body_crc FROM kept k JOIN bodies b ON b.position = k.body_of
      WHERE k.position = ?1 AND k.name = ?2 AND k.tenant = ?3
    UNION ALL
    SELECT b.bytes, b.crc AS body_crc FROM messages m JOIN bodies b ON b.position = m.position
      WHERE m.position = ?1 AND m.name = ?2 AND m.tenant = ?3 AND m.told IS NOT NULL`);
  const findAnswer = db.prepare(`
    SELECT a.bytes, a.crc AS body_crc FROM answers a WHERE a.position = ?1 AND (
      EXISTS (SELECT 1 FROM messages m WHERE m.position = ?1 AND m.name = ?2 AND m.tenant = ?3)
      OR EXISTS (SELECT 1 FROM kept k WHERE k.position = ?1 AND k.name = ?2 AND k.tenant = ?3))`);
  const reading =
    (one: StatementSync): KeptBodies["get"] =>
    (tenantId, id) =>
      writer.read(() => {
        const tenant = tenants.find(tenantId);
        const address = names.find(id);
        if (tenant === undefined || !address) return undefined;
        const row = one.get(address.position, address.name, tenant);
        return row && bodyFrom(row, id);
      });

  const sweepOf = async (
    tenant: number | undefined,
    before: number,
    limit: number,
  ): Promise<number> => {
    let swept = 0;
    for (const kind of [wholes, noted])
      swept += await sweepInCommits(writer, kind, sweptPerCommitMax, [
        tenant,
        before,
        limit - swept,
      ]);
    return swept;
  };

  return {
    get: reading(find),
    answer: reading(findAnswer),
    sweep: (tenantId, before, limit) => sweepOf(tenants.find(tenantId), before, limit),
    diskShare,
    giveWay: async (isClosed) => {
      for (const row of all.all()) {
        const tenant = integer(row["key"]);
        while (!isClosed() && (await sweepOf(tenant, clock.now() + 1, sweptPerCommitMax)) > 0);
      }
    },
  };
}

/** Sweeps bodies of (1). Each row is passed once: a row that is passed while it is a record is delivered too late to stay whole. */
function openKeptWholes({ db, clock, finished }: Store): Sweep {
  const rows = db.prepare(`
    SELECT m.position, m.told, m.until, coalesce(length(b.bytes), 0) + coalesce(length(a.bytes), 0) AS bytes
    FROM messages m INDEXED BY messages_logged LEFT JOIN bodies b ON b.position = m.position
      LEFT JOIN answers a ON a.position = m.position
    WHERE m.tenant = ? AND m.json IS NOT NULL AND m.position > ? AND m.position < ? ORDER BY m.position LIMIT ?`);
  const upTo = db.prepare("SELECT position FROM kept_up_to WHERE tenant = ?");
  const pass = db.prepare("INSERT OR REPLACE INTO kept_up_to (tenant, position) VALUES (?, ?)");
  const remove = openRemoval(db);

  const next = (tenant: number, before: number, limit: number): readonly Row[] =>
    rows.all(tenant, integer(upTo.get(tenant)?.["position"] ?? 0), positionAt(before), limit);
  const mayPass = (row: Row, before: number): boolean =>
    row["told"] === null ? isLate(row, clock.now()) : isOldRow(row, before, finished);

  return {
    isDue: (tenant, before) => {
      const [first] = next(tenant, before, 1);
      return first !== undefined && mayPass(first, before);
    },
    sweep: (tenant, before, limit) => {
      const rows = next(tenant, before, limit);
      const end = rows.findIndex((row) => !mayPass(row, before));
      const passed = freedTogether(end < 0 ? rows : rows.slice(0, end));
      const last = passed.at(-1);
      if (last) pass.run(tenant, integer(last["position"]));
      const gone = passed.filter((row) => row["told"] !== null && integer(row["bytes"]) > 0);
      remove(gone.map((row) => integer(row["position"])));
      return passed.length;
    },
  };
}

/** Sweeps bodies of (2). */
function openNoted({ db, configurations }: Store): Sweep {
  const oldest = db.prepare(`
    SELECT k.position, k.body_of, coalesce(length(b.bytes), 0) AS bytes
    FROM kept k LEFT JOIN bodies b ON b.position = k.body_of
    WHERE k.tenant = ? AND k.at < ? ORDER BY k.at LIMIT ?`);
  const remove = db.prepare("DELETE FROM kept WHERE position IN (SELECT value FROM json_each(?))");
  return {
    isDue: (tenant, before) => oldest.get(tenant, before, 1) !== undefined,
    sweep: (tenant, before, limit) => {
      const gone = freedTogether(oldest.all(tenant, before, limit));
      const positions = gone.map((row) => integer(row["position"]));
      remove.run(JSON.stringify(positions));
      const bodies = gone.map((row) => integer(row["body_of"]));
      configurations.removeOrphans(JSON.stringify([...new Set([...positions, ...bodies])]));
      return gone.length;
    },
  };
}

/** Removes bodies and answers. For use inside a write. */
export function openRemoval(db: DatabaseSync): (positions: readonly number[]) => void {
  const removals = ["bodies", "answers"].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE position IN (SELECT value FROM json_each(?))`),
  );
  return (positions) => {
    if (positions.length === 0) return;
    const gone = JSON.stringify(positions);
    for (const remove of removals) remove.run(gone);
  };
}
