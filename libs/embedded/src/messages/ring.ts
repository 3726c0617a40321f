/** Rings alarms: the write that returns the due rows moves their alarms ahead. */
import {
  type AlarmSource,
  isForeign,
  type FlowId,
  type LaneId,
  limits,
  type MessageState,
  ring,
  rowSources,
  sizeOf,
} from "@posthaste/domain";
import { type Rings, type Rung } from "@posthaste/ports";
import { integer, type Row } from "../database/rows.ts";
import { isDamaged, messageFrom } from "./configurations.ts";
import { openHomecoming } from "./homecoming.ts";
import { rungRecords, shardsColumn } from "./next-alarm.ts";
import { type Reading } from "./read.ts";
import {
  bodilessColumns,
  bodilessTables,
  columnsOf,
  firstFinishedCode,
  isUnderstood,
  recordFrom,
} from "./records.ts";
import { type Rooms } from "./rooms.ts";

export type Ring = (
  shards: readonly number[],
  limitOfEach: number,
  sources: readonly AlarmSource[],
) => Rings;

type RungRecords = {
  readonly rung: Rung[];
  readonly more: boolean;
  readonly foreign: ReadonlySet<FlowId>;
};

export function openRing(rooms: Rooms, reading: Reading): Ring {
  const { alarms, claimed, db, clock, laneAlarms, lanes, log, outbox, queues } = rooms;
  const due = rungRecords.map(({ source, rows }) => {
    const select = `SELECT ${bodilessColumns}, m.origin, m.body_bytes FROM ${bodilessTables}
      WHERE m.wake_at <= ? AND m.${rows} AND m.${isUnderstood}`;
    const inAll = db.prepare(`${select} ORDER BY m.wake_at LIMIT ?`);
    const inSome = db.prepare(
      `${select} AND m.shard IN (SELECT value FROM json_each(?)) ORDER BY m.wake_at LIMIT ?`,
    );
    return { source, inAll, inSome };
  });
  const bringHome = openHomecoming(db, clock);
  const move = db.prepare(
    "UPDATE messages SET state = ?, until = ?, hints = ?, wake_at = ? WHERE position = ?",
  );
  const postpone = db.prepare("UPDATE messages SET wake_at = ? WHERE position = ?");

  /** Postpones and logs a record that cannot be read, so that it rings seldom and holds up no other. */
  const unlessDamaged = <T>(position: number, now: number, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!isDamaged(error)) throw error;
      log.error("store.damaged", { position, error });
      postpone.run(now + limits.ringAheadMsMax, position);
      return undefined;
    }
  };

  const wakeQueue = (state: MessageState, now: number): void => {
    const key = state.kind === "queued" ? queues.keyOf(state.queue) : undefined;
    if (key !== undefined) queues.wake(key, now);
  };

  /**
   * `foreign` holds the lanes of other shards that were woken. `more` means that the rest exceeds one reading, and rings in the next
   * round.
   */
  const ringRecords = (rows: readonly Row[], now: number): RungRecords => {
    const rung: Rung[] = [];
    const foreign = new Set<FlowId>();
    let bytes = 0;
    for (const row of rows) {
      if (bytes >= limits.readBytesMax) return { rung, foreign, more: true };
      const position = integer(row["position"]);
      const hasOutbox = integer(row["outbox"]) > 0;
      const isEnded = integer(row["state"]) >= firstFinishedCode;
      const record = unlessDamaged(position, now, () =>
        hasOutbox && isEnded
          ? reading.at(position)?.record
          : recordFrom(row, messageFrom(row), hasOutbox ? outbox.of(position) : []),
      );
      if (!record) continue;
      bytes += sizeOf(record);
      const { next, wakeAt, then, followUp } = ring(record, now, clock.setAheadMs());
      const { code, until, hints: hinted } = columnsOf(next);
      move.run(code, until, hinted, wakeAt ?? null, position);
      if (next.kind !== "claimed") claimed.delete(position);
      if (followUp) {
        const { id, tenant } = record.message;
        rung.push(isEnded ? { kind: "followUp", record } : { kind: "outbox", id, tenant });
      }
      switch (then) {
        case "nothing":
          break;
        case "hint":
          rung.push({ kind: "hint", hint: reading.hint(row) });
          break;
        case "grant":
          if (next.kind !== "waiting") break;
          lanes.wake(next.flow, now);
          if (isForeign(record.message, next.flow)) foreign.add(next.flow);
          break;
        case "admit":
          wakeQueue(next, now);
          break;
      }
    }
    return { rung, foreign, more: false };
  };

  return (shards, limitOfEach, sources) => {
    bringHome();
    const now = clock.now();
    const inShards = shardsColumn(shards);
    const found = due
      .filter(({ source }) => sources.includes(source))
      .map(({ inAll, inSome }) =>
        inShards === undefined
          ? inAll.all(now, limitOfEach)
          : inSome.all(now, inShards, limitOfEach),
      );
    const { rung, foreign, more } = ringRecords(found.flat(), now);
    const rungLanes = Object.values(laneAlarms).map((each) =>
      each.ring(inShards, now, limitOfEach),
    );
    const rungRows = rowSources
      .filter((source) => sources.includes(source))
      .map((source) => alarms[source].ring(inShards, now, limitOfEach));
    const isFull = [...found, ...rungLanes, ...rungRows].some(
      ({ length }) => length >= limitOfEach,
    );
    const told = new Set<LaneId>(foreign).union(new Set(rungLanes.flat()));
    for (const lane of told) rung.push({ kind: "lane", lane });
    return { rung: [...rung, ...rungRows.flat()], more: more || isFull };
  };
}
