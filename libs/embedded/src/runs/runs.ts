/** The RunStore port. Head, parts and records of one change are one transaction. */
import { crc32 } from "node:zlib";
import { type DatabaseSync } from "node:sqlite";
import {
  awaitedEvents,
  isActive,
  lettersOfLog,
  limits,
  type MessageId,
  type Run,
  type RunId,
  type RunRef,
  type TenantId,
  wakeAtOf,
} from "@posthaste/domain";
import {
  type Inherited,
  type NextUse,
  type RunAddress,
  type RunStore,
  type RunWrite,
  type StartedRun,
  type Log,
} from "@posthaste/ports";
import { type Alarms, openAlarms } from "../database/alarms.ts";
import { integer, type Row, text } from "../database/rows.ts";
import { openInsert } from "../messages/insert.ts";
import { isKnownFormat } from "../messages/records.ts";
import { type Store } from "../messages/store.ts";
import { brief, openParts } from "./parts.ts";
import {
  fixedOf,
  headColumns,
  HeadTexts,
  positionOfRun,
  runFrom,
  termOf,
  termsOf,
} from "./rows.ts";

export function openRuns(store: Store): RunStore {
  const { writer } = store;
  const texts = new HeadTexts();
  const { byAlias, byRoot, find, newest, waiting } = openHeads(store, texts);
  const { between, part } = openParts(store);
  const put = openPut(store, texts);
  const sweepSome = openSweep(store);
  const start = (
    tenant: TenantId,
    id: RunId,
    make: (use: NextUse) => RunWrite,
    inherited?: Inherited,
  ): StartedRun => {
    const before = newest({ tenant, id });
    if (before && isActive(before)) return { kind: "known", run: before };
    const { generation = 0, createdAt = 0 } = before ?? {};
    const use = { generation: generation + 1, after: createdAt, ...(before && { before }) };
    const write = make(use);
    if (put.start(write, inherited)) return { kind: "started", run: write.run };
    const run = byRoot(write.run.root);
    if (!run) throw new Error("the root of the run was refused, and is missing");
    return { kind: "known", run };
  };

  return {
    start: (tenant, id, intake, make) => writer.write(() => start(tenant, id, make), intake),
    resume: (tenant, id, inherited, make) =>
      writer.write(
        () => (put.has(inherited) ? start(tenant, id, make, inherited) : "gone"),
        "accepted",
      ),
    change: (address, decide) =>
      writer.write(() => {
        const run = find(address);
        if (!run) return undefined;
        const { intake, verdict, write } = decide(run);
        if (intake === "new") writer.takeOn();
        if (write) put.change(run, write);
        return verdict;
      }, "accepted"),
    byRoot: (root) => writer.glance(() => byRoot(root)),
    byAlias: (tenant, id) => writer.glance(() => byAlias(termOf(tenant, "alias", id))),
    waiting: (tenant, event, after, limit) =>
      writer.glance(() => waiting(tenant, event, after, limit)),
    get: (address) => writer.glance(() => find(address)),
    part: ({ root }, name) => writer.glance(() => part(positionOfRun(root), name)),
    history: ({ root, history }, from) =>
      writer.glance(() => between(root, from, history.length - 1, limits.runReadBytesMax)),
    brief: (deliveries) => brief(writer, find, between, deliveries),
    sweep: async (tenant, endedBefore, limit) => {
      let removed = 0;
      // Each portion removes something; ends with the runs or at `limit`.
      for (;;) {
        const runsMax = Math.min(sweptAtOnce, limit - removed);
        const sweep = () => sweepSome(tenant, endedBefore, runsMax);
        const done = await writer.write(sweep, "redoable");
        removed += done.runs;
        if (!done.more || removed >= limit) return removed;
      }
    },
  };
}

function openHeads({ db }: Store, texts: HeadTexts) {
  const byPosition = db.prepare(`SELECT ${headColumns} FROM runs WHERE position = ?`);
  const newestOne = db.prepare(`
    SELECT ${headColumns} FROM runs WHERE tenant = ? AND id = ? ORDER BY generation DESC LIMIT 1`);
  const ofTime = db.prepare(`
    SELECT ${headColumns} FROM runs WHERE tenant = ? AND id = ? AND created_at = ? ORDER BY generation DESC LIMIT 1`);
  const waits = db.prepare(`
    SELECT ${headColumns} FROM run_waits w JOIN runs r ON r.position = w.run
    WHERE w.tenant = ? AND w.event = ? AND w.run > ? ORDER BY w.run LIMIT ?`);
  const ofTerm = db.prepare(`
    SELECT ${headColumns} FROM run_terms t JOIN runs r ON r.position = t.run
    WHERE t.term = ? ORDER BY r.ended_at IS NULL DESC, t.at DESC LIMIT 1`);
  const runOf = (row: Row | undefined): Run | undefined => row && texts.read(row);

  const newest = ({ tenant, id, createdAt }: RunAddress): Run | undefined =>
    runOf(createdAt === undefined ? newestOne.get(tenant, id) : ofTime.get(tenant, id, createdAt));
  return {
    newest,
    byRoot: (root: MessageId): Run | undefined => runOf(byPosition.get(positionOfRun(root))),
    byAlias: (term: string): Run | undefined => runOf(ofTerm.get(term)),
    /** Yields runs in the order of their starts. */
    waiting: (tenant: string, event: string, after: RunRef | undefined, limit: number) =>
      waits
        .all(tenant, event, after ? positionOfRun(after.root) : -1, limit)
        .map(runFrom)
        .map(({ key, root }) => ({ key, root })),
    find: (address: RunAddress | RunRef): Run | undefined => {
      if (!("key" in address)) return newest(address);
      const run = runOf(byPosition.get(positionOfRun(address.root)));
      return run?.key === address.key ? run : undefined;
    },
  };
}

function openPut(store: Store, texts: HeadTexts) {
  const { db } = store;
  const insertRecord = openInsert(store);
  const copy = openCopy(store);
  const insert = db.prepare(`
    INSERT INTO runs (position, tenant, id, generation, created_at, ended_at, wake_at, shard, format, json, crc, moving, moving_crc)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (position) DO NOTHING`);
  const update = db.prepare(
    "UPDATE runs SET ended_at = ?, dlq_at = ?, wake_at = ?, moving = ?, moving_crc = ? WHERE position = ?",
  );
  // For a step of a run that waits for nothing: no column of an index changes, and no page of an index is written.
  const updateText = db.prepare("UPDATE runs SET moving = ?, moving_crc = ? WHERE position = ?");
  const insertPart = db.prepare(`
    INSERT INTO run_parts (run, name, rank, at, crc, sent, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const insertTerm = db.prepare("INSERT INTO run_terms (term, at, run) VALUES (?, ?, ?)");
  const removeWaits = db.prepare("DELETE FROM run_waits WHERE run = ?");
  const insertWait = db.prepare("INSERT INTO run_waits (tenant, event, run) VALUES (?, ?, ?)");

  const putRest = (
    position: number,
    before: readonly string[],
    { run, parts, deliveries }: RunWrite,
  ): void => {
    const events = awaitedEvents(run);
    if (before.length !== events.length || events.some((event, i) => event !== before[i])) {
      if (before.length > 0) removeWaits.run(position);
      for (const event of events) insertWait.run(run.tenant, event, position);
    }
    for (const { name, rank = null, at, body, sent } of parts) {
      const how = sent ? JSON.stringify(sent) : null;
      insertPart.run(position, name, rank, at, crc32(body), how, body);
    }
    for (const record of deliveries)
      if (insertRecord({ record }) === "known")
        throw new Error(`${record.message.id} was there before its entry was accepted`);
  };
  return {
    has: copy.has,
    /** Returns false when the root has a run already. */
    start: (write: RunWrite, inherited?: Inherited): boolean => {
      const { run } = write;
      const { root, tenant, id, generation, createdAt, shard, format = 1 } = run;
      const [fixed, moving] = [fixedOf(run), texts.movingOf(run)];
      const position = positionOfRun(root);
      const named = [position, tenant, id, generation, createdAt];
      const [endedAt, , wakeAt] = timesOf(run);
      const written = [fixed.json, fixed.crc, moving.json, moving.crc];
      if (insert.run(...named, endedAt, wakeAt, shard, format, ...written).changes === 0)
        return false;
      for (const term of termsOf(run)) insertTerm.run(term, createdAt, position);
      if (inherited) copy.into(root, inherited);
      putRest(position, [], write);
      return true;
    },
    change: (before: Run, write: RunWrite): void => {
      const { run } = write;
      const { json, crc } = texts.movingOf(run);
      const position = positionOfRun(run.root);
      const [was, is] = [timesOf(before), timesOf(run)];
      if ([...was, ...is].every((time) => time === null)) updateText.run(json, crc, position);
      else update.run(...is, json, crc, position);
      putRest(position, awaitedEvents(before), write);
    },
  };
}

/** Copies the parts that a resumed run inherits. */
function openCopy({ db }: Store) {
  const isNeeded = "rank IS NOT NULL OR name IN (SELECT value FROM json_each(?))";
  const isOfLog = `
    name GLOB '[${lettersOfLog.join("")}][1-9]*' AND CAST(substr(name, 2) AS INTEGER) NOT IN (SELECT value FROM json_each(?))`;
  const countOther = db.prepare(`
    SELECT count(*) AS count FROM run_parts WHERE run = ? AND (${isNeeded})`);
  const copyOther = db.prepare(`
    INSERT INTO run_parts (run, name, rank, at, crc, sent, bytes)
    SELECT ?, name, rank, at, crc, sent, bytes
    FROM run_parts WHERE run = ? AND (${isNeeded} OR ${isOfLog})`);
  return {
    has: ({ names, of: { history, root } }: Inherited): boolean => {
      const row = countOther.get(positionOfRun(root), JSON.stringify(names));
      return integer(row?.["count"]) === history.length + names.length;
    },
    into: (root: MessageId, { names, of }: Inherited): void => {
      const waiting = of.state.pending.map(({ step }) => step);
      const lists = [names, waiting].map((list) => JSON.stringify(list));
      copyOther.run(positionOfRun(root), positionOfRun(of.root), ...lists);
    },
  };
}

/** Returns the end, the time of the dead letter, and the alarm: the columns of indexes that a change may change. */
function timesOf(run: Run): readonly [number | null, number | null, number | null] {
  const { state } = run;
  const endedAt = state.kind === "active" ? null : state.endedAt;
  const isLetter = state.kind === "failed" && state.failure.inDlq;
  return [endedAt, isLetter ? endedAt : null, wakeAtOf(run) ?? null];
}

/** Rows removed in one transaction, during which nothing else runs. */
const sweptAtOnce = 250;

function openSweep({ db, log }: Store) {
  const ended = `
    SELECT position FROM runs WHERE tenant = ? AND ended_at < ? AND ${isKnownFormat} ORDER BY ended_at LIMIT ?`;
  const removeParts = db.prepare(`
    DELETE FROM run_parts WHERE rowid IN (
      SELECT p.rowid FROM (${ended}) r JOIN run_parts p ON p.run = r.position
      LIMIT ${sweptAtOnce})`);
  const removeAttempts = db.prepare(`
    DELETE FROM run_attempts WHERE rowid IN (
      SELECT a.rowid FROM (${ended}) r JOIN run_attempts a ON a.run = r.position
      LIMIT ${sweptAtOnce})`);
  const removeHeads = db.prepare(`
    DELETE FROM runs WHERE position IN (${ended}) RETURNING id, ${headColumns}`);
  const removeTerm = db.prepare("DELETE FROM run_terms WHERE term = ? AND at = ? AND run = ?");
  /** Skips a damaged run, so that the sweep continues. Its terms stay without a run, and lists skip them. */
  const readable = (row: Row): readonly Run[] => {
    try {
      return [runFrom(row)];
    } catch (error) {
      log.error("store.damaged", { run: text(row["id"]), error });
      return [];
    }
  };
  return (
    tenant: string,
    endedBefore: number,
    runsMax: number,
  ): { readonly runs: number; readonly more: boolean } => {
    const parts = Number(removeParts.run(tenant, endedBefore, runsMax).changes);
    if (parts > 0) return { runs: 0, more: true };
    const attempts = Number(removeAttempts.run(tenant, endedBefore, runsMax).changes);
    if (attempts > 0) return { runs: 0, more: true };
    const removed = removeHeads.all(tenant, endedBefore, runsMax);
    for (const run of removed.flatMap(readable))
      for (const term of termsOf(run)) removeTerm.run(term, run.createdAt, positionOfRun(run.root));
    return { runs: removed.length, more: removed.length === runsMax };
  };
}

export const openRunAlarms = (db: DatabaseSync, log: Log): Alarms =>
  openAlarms(db, {
    table: "runs",
    key: "position",
    columns: `id, ${headColumns}`,
    read: (row) => {
      const { key, root } = runFrom(row);
      return { kind: "run", run: { key, root } };
    },
    damaged: (row, error) => log.error("store.damaged", { run: text(row["id"]), error }),
  });
