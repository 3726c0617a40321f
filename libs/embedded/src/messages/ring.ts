/** Rings alarms: the write that returns the due rows moves their alarms ahead. */
import {
  type AlarmSource,
  type LaneId,
  limits,
  type QueueId,
  ring,
  rowSources,
  sizeOf,
} from "@posthaste/domain";
import { type Rings, type Rung } from "@posthaste/ports";
import { integer, type Row } from "../database/rows.ts";
import { isDamaged, messageFrom } from "./configurations.ts";
import { openAlarmMoves } from "./clock-set-back.ts";
import { rungRecords, shardsColumn } from "./next-alarm.ts";
import { type Reading } from "./read.ts";
import {
  bodilessColumns,
  bodilessTables,
  columnsOf,
  firstFinishedCode,
  isKnownFormat,
  recordFrom,
} from "./records.ts";
import { type Store } from "./store.ts";

export type Ring = (
  shards: readonly number[],
  limitOfEach: number,
  sources: readonly AlarmSource[],
) => Rings;

type RungRecords = { readonly rung: readonly Rung[]; readonly isCut: boolean };

export function openRing(store: Store, reading: Reading): Ring {
  const { alarms, claimed, db, clock, lanes, log, outbox, queues } = store;
  const due = rungRecords.map(({ source, rows }) => {
    const select = `SELECT ${bodilessColumns}, m.origin, m.body_bytes FROM ${bodilessTables}
      WHERE m.wake_at <= ? AND m.${rows} AND m.${isKnownFormat}`;
    const inAll = db.prepare(`${select} ORDER BY m.wake_at LIMIT ?`);
    const inSome = db.prepare(
      `${select} AND m.shard IN (SELECT value FROM json_each(?)) ORDER BY m.wake_at LIMIT ?`,
    );
    return { source, inAll, inSome };
  });
  const moveAlarmsUp = openAlarmMoves(db, clock);
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

  const wakeQueue = (queue: QueueId, now: number): void => {
    const key = queues.keyOf(queue);
    if (key !== undefined) queues.wake(key, now);
  };

  /** `isCut`: the rest exceeds one reading and rings in the next round. */
  const ringRecords = (rows: readonly Row[], now: number): RungRecords => {
    const rung: Rung[] = [];
    const tell = (lane: LaneId): void => void rung.push({ kind: "lane", lane });
    let bytes = 0;
    for (const row of rows) {
      if (bytes >= limits.readBytesMax) return { rung, isCut: true };
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
          tell(next.flow);
          break;
        case "admit":
          if (next.kind !== "queued") break;
          wakeQueue(next.queue, now);
          tell(next.queue);
          break;
      }
    }
    return { rung, isCut: false };
  };

  return (shards, limitOfEach, sources) => {
    moveAlarmsUp();
    const now = clock.now();
    const inShards = shardsColumn(shards);
    const found = due
      .filter(({ source }) => sources.includes(source))
      .map(({ source, inAll, inSome }) => ({
        source,
        rows:
          inShards === undefined
            ? inAll.all(now, limitOfEach)
            : inSome.all(now, inShards, limitOfEach),
      }));
    const { rung, isCut } = ringRecords(
      found.flatMap(({ rows }) => rows),
      now,
    );
    const others = rowSources
      .filter((source) => sources.includes(source))
      .map((source) => ({ source, rows: alarms[source].ring(inShards, now, limitOfEach) }));
    const isFull = ({ rows }: { readonly rows: readonly unknown[] }) => rows.length >= limitOfEach;
    const full = [...found.filter((each) => isCut || isFull(each)), ...others.filter(isFull)];
    return {
      rung: [...rung, ...others.flatMap(({ rows }) => rows)],
      more: new Set(full.map(({ source }) => source)),
    };
  };
}
