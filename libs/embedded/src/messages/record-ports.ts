/** Assembles the ports over the records: which call writes, which reads, and in what portions. */
import { type DatabaseSync } from "node:sqlite";
import {
  alarmSources,
  type FlowId,
  type FlowLane,
  progressOf,
  type Settlement,
} from "@posthaste/domain";
import { type Insert, type RecordPorts, type Records } from "@posthaste/ports";
import { openBulkActions } from "../bulk-actions/bulk-actions.ts";
import { type Weight, type WriteKind } from "../database/operation.ts";
import { openRunLog } from "../runs/run-log.ts";
import { openRuns } from "../runs/runs.ts";
import { openQueues } from "../queues/port.ts";
import { openCancel } from "./cancel.ts";
import { openClaiming } from "./claim.ts";
import { openDueSince } from "./due-since.ts";
import { openInsert } from "./insert.ts";
import { openLine } from "./line.ts";
import { openMatching } from "./matching.ts";
import { openNextAlarm } from "./next-alarm.ts";
import { openPull } from "./pull.ts";
import { openReading, ofTenant, type Reading, someOf } from "./read.ts";
import { openRelease } from "./release.ts";
import { openRemoving } from "./remove.ts";
import { openRing } from "./ring.ts";
import { type Store } from "./store.ts";
import { openSettling } from "./settle.ts";
import { openWaiting } from "./waiting.ts";

/** Finished records removed per transaction, during which nothing else runs. */
const removedPerCommitMax = 250;
/** Tombstones, windows and lanes swept per transaction, of each kind, and transactions per call. */
const sweptPerCommitMax = 500;
const sweepCommitsMax = 200;

/** `reader` is the connection of the lists. */
export function openRecordPorts(
  store: Store,
  reader: DatabaseSync,
  breathe: () => Promise<void>,
): Omit<RecordPorts, "keptBodies"> {
  const { clock, writer, fanOuts, lanes } = store;
  const reading = openReading(store);
  const ring = openRing(store, reading);
  const nextAlarm = openNextAlarm(store);
  const line = openLine(store, reading);
  return {
    records: openRecords(store, reading, reader),
    alarms: {
      ring: (shards, limitOfEach, sources = alarmSources) =>
        writer.write(() => ring(shards, limitOfEach, sources), "redoable"),
      next: (shards, sources = alarmSources) => writer.glance(() => nextAlarm(shards, sources)),
    },
    flowLanes: {
      rows: (ids) => writer.glance(() => lanes.rows(ids)),
      list: async (tenant, search, limit) => {
        const found: FlowLane[] = [];
        let after: FlowId | undefined;
        do {
          const behind = after;
          const look = () => lanes.list(tenant, search, behind, limit - found.length);
          const { lanes: some, next } = await writer.read(look);
          found.push(...some);
          after = next;
        } while (after !== undefined && found.length < limit);
        return found;
      },
      waiting: openWaiting(store),
      pin: (flow, pinned) => writer.write(() => lanes.pin(flow, pinned, clock.now()), "accepted"),
      unpin: (id, parts) => writer.write(() => lanes.unpin(id, parts), "accepted"),
      pause: (flow) => writer.write(() => lanes.pause(flow, true, clock.now()), "accepted"),
      resume: (flow) => writer.write(() => lanes.pause(flow, false, clock.now()), "accepted"),
      heads: (lane, n) => writer.glance(() => line.heads(lane, n)),
      promote: (lane, ids, grantUntil, window) =>
        writer.write(() => {
          if (window) lanes.keepWindow(lane, window);
          return line.promote(lane, ids, grantUntil);
        }, "redoable"),
      keepWindow: (lane, window) => writer.write(() => lanes.keepWindow(lane, window), "accepted"),
      rest: (lane, seq, wakeAt, window) =>
        writer.write(() => lanes.rest(lane, seq, wakeAt, window), "redoable"),
      slotHolders: (lane) => writer.glance(() => line.slotHolders(lane)),
    },
    queues: openQueues(store),
    bulkActions: openBulkActions(store.db, writer),
    runs: openRuns(store),
    runLog: openRunLog(store, reader, breathe),
    fanOuts: {
      insert: (fanOut, intake, deduplication = []) =>
        writer.write(() => fanOuts.insert(fanOut, deduplication), intake, {
          records: 1,
          bytes: fanOut.body.length,
        }),
      get: (tenant, ids) => writer.read(() => ids.map((id) => fanOuts.get(tenant, id))),
      expanding: (...given) => writer.read(() => fanOuts.expanding(...given)),
      advance: (...given) => writer.write(() => fanOuts.advance(...given), "accepted"),
    },
  };
}

function openRecords(store: Store, reading: Reading, reader: DatabaseSync): Records {
  const { writer, tenants, backlog } = store;
  const insertOne = openInsert(store);
  const claiming = openClaiming(store, reading);
  const settling = openSettling(store);
  const { cancel, drop } = openCancel(store, reading);
  const releaseOne = openRelease(store, reading);
  const matching = openMatching(store);
  const removing = openRemoving(store);
  const pull = openPull(store, reading);

  const sweep = async (): Promise<void> => {
    for (let commit = 0; commit < sweepCommitsMax; commit++)
      if (!(await writer.write(() => removing.sweep(sweptPerCommitMax), "accepted"))) return;
  };

  return {
    insert: (inserts, intake) =>
      writer.write(() => inserts.map(insertOne), intake, weightOf(inserts)),
    claim: (ids, owner) => writer.write(() => claiming.claim(ids, owner), "redoable"),
    pull: (tenant, limit, exceptOrigins) => writer.glance(() => pull(tenant, limit, exceptOrigins)),
    renew: (claims) => writer.write(() => claiming.renew(claims), "redoable"),
    settle: (settlements) =>
      writer.write(() => settlements.map(settling.settle), kindOf(settlements), {
        records: settlements.length,
        bytes: settlements.reduce((sum, { answer }) => sum + (answer?.length ?? 0), 0),
      }),
    clear: (items) => writer.write(() => items.forEach(settling.clear), "redoable"),
    cancel: (tenant, ids) => writer.write(() => ids.map((id) => cancel(tenant, id)), "accepted"),
    drop: (tenant, ids) =>
      writer.write(() => ids.flatMap((id) => drop(tenant, id) ?? []), "redoable"),
    release: (...asked) => writer.write(() => releaseOne(...asked), "accepted"),
    matching,
    dueSince: openDueSince(reader, tenants),
    get: (tenant, ids) =>
      writer.read(() => ids.map((id) => ofTenant(tenant, reading.find(id))?.record)),
    getSome: (tenant, ids) => writer.read(() => someOf(reading, tenant, ids)),
    progress: (tenant, ids) =>
      writer.read(() =>
        ids.map((id) => {
          const found = ofTenant(tenant, reading.slim(id));
          return found && progressOf(found.record);
        }),
      ),
    removeFinished: async (shards, endedBefore, limit, keeps = () => true) => {
      let removed = 0;
      let more = true;
      // Ends with the finished records, or at `limit`.
      while (more && removed < limit) {
        const portion = Math.min(limit - removed, removedPerCommitMax);
        const done = await writer.write(
          () => removing.removeFinished(shards, endedBefore, portion, keeps),
          "accepted",
        );
        removed += done.removed;
        more = done.more;
      }
      await sweep();
      return removed;
    },
    backlog: async (tenant) => {
      const key = tenants.find(tenant);
      return key === undefined ? 0 : backlog.of(key);
    },
  };
}

function kindOf(settlements: readonly Settlement[]): WriteKind {
  if (!settlements.every(({ isImplied }) => isImplied)) return "accepted";
  // A line may wait for the end of a message that has a lane.
  const waits = settlements.some(({ message }) => message.flow !== undefined);
  return settlements.length === 0 || waits ? "redoable" : "patient";
}

/** Counts no body for a child, which shares that of its fan-out. */
function weightOf(inserts: readonly Insert[]): Weight {
  let bytes = 0;
  for (const { record } of inserts)
    if (record.message.bodyOf === undefined) bytes += record.message.body.length;
  return { records: inserts.length, bytes };
}
