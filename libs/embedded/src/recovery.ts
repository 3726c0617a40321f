/**
 * Recovers, at open, the records that an earlier process left. With the directory lock held no other process can have
 * a claim, so every claimed record may be claimed again at once, and has lost a lease
 * (docs/design/record#starting-again). The hints of that process are lost, too: records that waited for a hint ring
 * now instead of at their alarm. Runs in SQL, in one transaction: records do not pass through memory.
 */
import { openRetryMoves } from "./messages/clock-set-back.ts";
import { type DatabaseSync } from "node:sqlite";
import { cutOff, limits, wakeAtOf } from "@posthaste/domain";
import { type Clock, type Log } from "@posthaste/ports";
import { sqliteCode } from "./database/failures.ts";
import { integer, type Row } from "./database/rows.ts";
import { alarmAt, soonest } from "./lanes.ts";
import { claimedCode, firstFinishedCode, isKnownFormat, stateCodes } from "./messages/records.ts";
import { type Store } from "./messages/store.ts";
import { positionAt } from "./messages/positions.ts";
import { headColumns, runFrom } from "./runs/rows.ts";

export type Recovered = {
  readonly claims: number;
  readonly live: number;
  readonly finished: number;
};

export function recover(
  db: DatabaseSync,
  clock: Clock,
  log: Log,
  { backlog, claimed, finished }: Pick<Store, "backlog" | "claimed" | "finished">,
): Recovered {
  const { claims, claimed: left, live, ended } = passIfThereIsRoom(db, clock.now(), log);
  for (const position of left) claimed.add(position);
  for (const [tenant, n] of live) backlog.add(tenant, n);
  for (const { isWhole, position, until } of ended) finished.add(position, until, isWhole);
  return { claims, live: sum(live.values()), finished: ended.length };
}

type Pass = {
  readonly claims: number;
  /** The positions of claims that could not be released. */
  readonly claimed: readonly number[];
  /** The live records of each tenant. */
  readonly live: ReadonlyMap<number, number>;
  readonly ended: readonly Ended[];
};
type Ended = { readonly position: number; readonly until: number; readonly isWhole: boolean };

/** Counts; on a full disk, without releasing claims. The start must not fail, and claims then end with their leases. */
function passIfThereIsRoom(db: DatabaseSync, now: number, log: Log): Pass {
  try {
    return ringAgain(db, now);
  } catch (error) {
    if (sqliteCode(error) !== "full") throw error;
    log.error("store.claims_not_released", { error });
    return pass(db, now, () => undefined);
  }
}

/**
 * Reads the live messages, and ended ones that are not removed. Of whole rows, those of the last minutes count as not
 * removed: searching all rows that stay as their log would take long.
 */
function pass(db: DatabaseSync, now: number, release: (positions: string) => void): Pass {
  const claimed = db.prepare(`
    SELECT position FROM messages INDEXED BY messages_by_alarm
    WHERE wake_at IS NOT NULL AND state < ${firstFinishedCode} AND state = ${stateCodes.claimed}`);
  const stillClaimed = db.prepare(`
    SELECT position, tenant FROM messages
    WHERE position IN (SELECT value FROM json_each(?)) AND state = ${stateCodes.claimed}`);
  const unclaimed = db.prepare(
    `SELECT count(*) AS n FROM messages INDEXED BY messages_unclaimed WHERE tenant = ? AND state < ${claimedCode}`,
  );
  const ended = db.prepare(`
    SELECT position, until, told FROM messages INDEXED BY messages_ended
    WHERE state >= ${firstFinishedCode} AND json IS NULL AND outbox = 0
    UNION ALL SELECT position, until, told FROM messages WHERE position >= ? AND told IS NOT NULL
    ORDER BY until`);
  const found = claimed.all().map((row) => integer(row["position"]));
  const positions = JSON.stringify(found);
  release(positions);
  const left = stillClaimed.all(positions);
  const live = new Map<number, number>();
  for (const row of db.prepare("SELECT key FROM tenants").all()) {
    const tenant = integer(row["key"]);
    live.set(tenant, integer(unclaimed.get(tenant)?.["n"]));
  }
  for (const row of left) {
    const tenant = integer(row["tenant"]);
    live.set(tenant, (live.get(tenant) ?? 0) + 1);
  }
  return {
    claims: found.length - left.length,
    claimed: left.map((row) => integer(row["position"])),
    live,
    ended: ended.all(positionAt(cutOff(wholeRowsStandMs, now))).map(endedFrom),
  };
}

const wholeRowsStandMs = 2 * limits.finishedKeepMs + limits.ownLogMs;
const endedFrom = (row: Row): Ended => ({
  position: integer(row["position"]),
  until: integer(row["until"]),
  isWhole: row["told"] !== null,
});

const sum = (numbers: Iterable<number>): number => {
  let all = 0;
  for (const n of numbers) all += n;
  return all;
};

function ringAgain(db: DatabaseSync, now: number): Pass {
  /** Rows that this build does not understand keep their alarm (ADR 27). */
  const ringNow = (set: string, rows = "TRUE"): void =>
    void db
      .prepare(`UPDATE ${set} WHERE wake_at > ? AND ${rows} AND ${isKnownFormat}`)
      .run(now, now);
  db.exec("BEGIN IMMEDIATE");
  try {
    const found = pass(db, now, (positions) => release(db, positions, now));
    // Two updates, each along its own index.
    const hadOutbox = `state < ${firstFinishedCode} AND (state = ${stateCodes.due} OR outbox > 0)`;
    for (const rows of [hadOutbox, `state >= ${firstFinishedCode} AND outbox > 0`])
      ringNow(`messages SET wake_at = ?`, rows);
    openRetryMoves(db)(now, 0);
    for (const lines of ["lanes", "queues"]) ringNow(`${lines} SET ${alarmAt("?")}`);
    // Canceled calls ended with their process.
    db.exec(
      `UPDATE messages SET runs_until = NULL
       WHERE position IN (SELECT message FROM turns) AND runs_until IS NOT NULL AND ${isKnownFormat}`,
    );
    for (const rows of ["fan_outs", "bulk_actions"]) ringNow(`${rows} SET wake_at = ?`);
    ringSchedules(db, now);
    ringRuns(db, now);
    db.exec("COMMIT");
    return found;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Releases the claims at `positions` (a JSON array). */
function release(db: DatabaseSync, positions: string, now: number): void {
  const claimed = `position IN (SELECT value FROM json_each(?)) AND ${isKnownFormat}`;
  db.prepare(`
    UPDATE lanes SET ${alarmAt(soonest)}
    WHERE ${isKnownFormat} AND key IN (SELECT lane FROM messages WHERE ${claimed})`).run(
    now,
    now,
    positions,
  );
  // A record of a lane goes back into line, where only an outbox has an alarm. Any other is due and rings now.
  db.prepare(`
    UPDATE messages SET owner = NULL, until = NULL, hints = 0,
      lease_losses = lease_losses + iif(hints > 0, 1, ${limits.leaseLossParts}),
      state = iif(lane IS NULL, ${stateCodes.due}, ${stateCodes.waiting}),
      wake_at = iif(lane IS NULL, ?, iif(outbox > 0, ?, NULL))
    WHERE ${claimed}`).run(now, now + limits.ringAheadMs, positions);
}

/**
 * Matches schedules and runs that have rung without being worked: their alarm is no further ahead than a ring moves
 * it. The ones whose own time has come ring now, and the rest at their time.
 */
const rungAndLeft = `wake_at > ? AND wake_at <= ? AND ${isKnownFormat}`;

function ringSchedules(db: DatabaseSync, now: number): void {
  const next = "iif(json ->> '$.pending' IS NULL, coalesce(json ->> '$.next', 0), 0)";
  db.prepare(
    `UPDATE schedules SET wake_at = max(?, ${next}) WHERE ${rungAndLeft} AND json_valid(json)`,
  ).run(now, now, now + limits.ringAheadMs);
}

/** Rings runs by the times in their heads, which are read one by one. A damaged run keeps its alarm. */
function ringRuns(db: DatabaseSync, now: number): void {
  const rows = db.prepare(`SELECT position, ${headColumns} FROM runs WHERE ${rungAndLeft}`);
  const alarms = new Map<number, number>();
  for (const row of rows.iterate(now, now + limits.ringAheadMs)) {
    const at = wakeAtIn(row);
    if (at !== undefined) alarms.set(integer(row["position"]), Math.max(at, now));
  }
  const set = db.prepare("UPDATE runs SET wake_at = ? WHERE position = ?");
  for (const [position, at] of alarms) set.run(at, position);
}

function wakeAtIn(row: Row): number | undefined {
  try {
    return wakeAtOf(runFrom(row));
  } catch {
    return undefined;
  }
}
