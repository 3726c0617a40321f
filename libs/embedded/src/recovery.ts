/**
 * Recovers what an earlier process left, at open. With the directory lock held no other process can have a claim, so every claimed record
 * may be claimed again at once, and has lost a lease (docs/design/record#starting-again). The hints of that process are lost, too:
 * records that waited for a hint ring now instead of at their alarm. Runs in SQL, in one transaction: records do not pass through memory.
 */
import { openRetriesHome } from "./messages/homecoming.ts";
import { type DatabaseSync } from "node:sqlite";
import { limits, wakeAtOf } from "@posthaste/domain";
import { type Clock, type Log } from "@posthaste/ports";
import { sqliteCode } from "./database/failures.ts";
import { integer, type Row } from "./database/rows.ts";
import { alarmAt, soonest } from "./lanes.ts";
import { type Backlog } from "./messages/backlog.ts";
import { type Finished } from "./messages/finished.ts";
import { firstFinishedCode, isUnderstood, stateCodes } from "./messages/records.ts";
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
  backlog: Backlog,
  finished: Finished,
): Recovered {
  const { claims, live, ended } = passIfThereIsRoom(db, clock.now(), log);
  for (const [tenant, n] of live) backlog.add(tenant, n);
  for (const { position, until } of ended.toSorted((a, b) => a.until - b.until))
    finished.add(position, until);
  return { claims, live: sum(live.values()), finished: ended.length };
}

type Pass = {
  readonly claims: number;
  /** By tenant. */
  readonly live: ReadonlyMap<number, number>;
  readonly ended: readonly { readonly position: number; readonly until: number }[];
};

/** On a full disk, counts without releasing claims: the start must not fail, and claims then end with their leases. */
function passIfThereIsRoom(db: DatabaseSync, now: number, log: Log): Pass {
  try {
    return ringAgain(db, now);
  } catch (error) {
    if (sqliteCode(error) !== "full") throw error;
    log.error("store.claims_not_released", { error });
    return pass(db, () => 0);
  }
}

/** Reads the messages once: everything asked of a piece is asked while its pages are in memory. */
function pass(db: DatabaseSync, release: (piece: Piece) => number): Pass {
  const within = "position > ? AND position <= ?";
  const liveIn = db.prepare(
    `SELECT tenant, count(*) AS n FROM messages WHERE ${within} AND state < ${firstFinishedCode} GROUP BY tenant`,
  );
  const endedIn = db.prepare(
    `SELECT position, until FROM messages WHERE ${within} AND state >= ${firstFinishedCode} AND outbox = 0`,
  );
  let claims = 0;
  const live = new Map<number, number>();
  const ended: { readonly position: number; readonly until: number }[] = [];
  for (const piece of piecesOf(db)) {
    claims += release(piece);
    for (const row of liveIn.iterate(...piece)) {
      const tenant = integer(row["tenant"]);
      live.set(tenant, (live.get(tenant) ?? 0) + integer(row["n"]));
    }
    for (const row of endedIn.iterate(...piece))
      ended.push({ position: integer(row["position"]), until: integer(row["until"]) });
  }
  return { claims, live, ended };
}

/** The positions above the first, up to the second. */
type Piece = readonly [above: number, upTo: number];
const rowsPerPiece = 10_000;

function* piecesOf(db: DatabaseSync): Generator<Piece, void, undefined> {
  const lastOfPiece = db.prepare(
    `SELECT position FROM messages WHERE position > ? ORDER BY position LIMIT 1 OFFSET ${rowsPerPiece - 1}`,
  );
  let above = 0;
  // Each piece begins behind the last, so this ends with the rows.
  for (;;) {
    const last = lastOfPiece.get(above);
    const upTo = last ? integer(last["position"]) : Number.MAX_SAFE_INTEGER;
    yield [above, upTo];
    if (!last) return;
    above = upTo;
  }
}

const sum = (numbers: Iterable<number>): number => {
  let all = 0;
  for (const n of numbers) all += n;
  return all;
};

function ringAgain(db: DatabaseSync, now: number): Pass {
  /** Rows that this build does not understand keep their alarm (ADR 27). */
  const ringNow = (set: string, rows = "TRUE"): void =>
    void db
      .prepare(`UPDATE ${set} WHERE wake_at > ? AND ${rows} AND ${isUnderstood}`)
      .run(now, now);
  db.exec("BEGIN IMMEDIATE");
  try {
    const found = pass(db, releasing(db, now));
    // Two updates, each along its own index.
    const hadOutbox = `state < ${firstFinishedCode} AND (state = ${stateCodes.due} OR outbox > 0)`;
    for (const rows of [hadOutbox, `state >= ${firstFinishedCode} AND outbox > 0`])
      ringNow(`messages SET wake_at = ?`, rows);
    openRetriesHome(db)(now, 0);
    for (const lines of ["lanes", "queues"]) ringNow(`${lines} SET ${alarmAt("?")}`);
    // Canceled calls ended with their process.
    db.exec(
      `UPDATE messages SET runs_until = NULL
       WHERE position IN (SELECT message FROM turns) AND runs_until IS NOT NULL AND ${isUnderstood}`,
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

function releasing(db: DatabaseSync, now: number): (piece: Piece) => number {
  const claimed = `position > ? AND position <= ? AND state = ${stateCodes.claimed} AND ${isUnderstood}`;
  const wakeLanes = db.prepare(`
    UPDATE lanes SET ${alarmAt(soonest)}
    WHERE ${isUnderstood} AND key IN (SELECT lane FROM messages WHERE ${claimed})`);
  // A record of a lane goes back into line, where only an outbox has an alarm. Any other is due and rings now.
  const release = db.prepare(`
    UPDATE messages SET owner = NULL, until = NULL, hints = 0,
      lease_losses = lease_losses + iif(hints > 0, 1, ${limits.leaseLossParts}),
      state = iif(lane IS NULL, ${stateCodes.due}, ${stateCodes.waiting}),
      wake_at = iif(lane IS NULL, ?, iif(outbox > 0, ?, NULL))
    WHERE ${claimed}`);
  return (piece) => {
    wakeLanes.run(now, now, ...piece);
    return Number(release.run(now, now + limits.ringAheadMs, ...piece).changes);
  };
}

/**
 * Matches schedules and runs that have rung and were left: their alarm stands no further ahead than a ring moves it. Of these, the ones
 * whose own time has come ring now, and the rest at their time.
 */
const rungAndLeft = `wake_at > ? AND wake_at <= ? AND ${isUnderstood}`;

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
