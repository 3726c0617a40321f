/** The alarms of everything in the record store: due alarms ring and move ahead. */
import {
  alarmSources,
  isTooFarAhead,
  isFinished,
  isKnownFormat,
  type LaneId,
  limits,
  type Message,
  type MessageRecord,
  type RecordSource,
  recordSources,
  ring,
  type RowSource,
  rowSources,
  sizeOf,
  sourceOf,
  movedUp,
} from "@posthaste/domain";
import { hintOf } from "@posthaste/engine";
import { type Alarms, type Rung } from "@posthaste/ports";
import { type ArmedRows } from "./armed-rows.ts";
import { type ModelFlowLanes } from "./flow-lanes.ts";
import { type ModelQueues } from "./queues.ts";
import { type Rows } from "./rows.ts";

/** Sources that ring by themselves, apart from records. */
type SourceAlarms = Pick<ArmedRows<Rung>, "next" | "ring">;

export const ringing = <R>(
  { next, ring }: Pick<ArmedRows<R>, "next" | "ring">,
  rungOf: (row: R) => Rung,
): SourceAlarms => ({ next, ring: (...given) => ring(...given).map(rungOf) });

export type Around = {
  readonly now: () => number;
  readonly setAheadMs: () => number;
  readonly setBackMs: () => number;
  readonly rows: Rows;
  readonly lanes: ModelFlowLanes;
  readonly queues: ModelQueues;
  readonly others: { readonly [Source in RowSource]: SourceAlarms };
  /** Returns the record as callers see it: with the body that a fan-out keeps, or with none. */
  readonly withBody: (record: MessageRecord) => MessageRecord;
  readonly withoutBody: (record: MessageRecord) => MessageRecord;
};

export function modelAlarms(around: Around): Alarms {
  const { now, setAheadMs, setBackMs, rows, lanes, queues, others, withBody, withoutBody } = around;

  const dueOf = (
    sources: readonly string[],
    mine: ReadonlySet<number>,
    limitOfEach: number,
  ): readonly { readonly source: RecordSource; readonly found: readonly MessageRecord[] }[] => {
    const ofEach = new Map(
      recordSources
        .filter((source) => sources.includes(source))
        .map((source): [RecordSource, MessageRecord[]] => [source, []]),
    );
    for (const record of rows.due(now())) {
      const { message, state, outbox } = record;
      if (!mine.has(message.shard) || !isKnownFormat(message)) continue;
      const ofSource = ofEach.get(sourceOf(state, outbox));
      if (ofSource && ofSource.length < limitOfEach) ofSource.push(record);
    }
    return [...ofEach].map(([source, found]) => ({ source, found }));
  };

  /** Rings the record, and returns what rang. */
  const ringOne = (
    record: MessageRecord,
    tell: (lane: LaneId) => void,
  ): { readonly said: readonly Rung[]; readonly bytes: number } => {
    const { next, wakeAt, then, followUp } = ring(record, now(), setAheadMs());
    const rung: MessageRecord = { ...record, state: next, wakeAt };
    rows.change(record.message.id, rung);
    if (then === "grant" && next.kind === "waiting") {
      lanes.wake(next.flow);
      tell(next.flow);
    }
    if (next.kind === "queued") {
      queues.wake(next.queue);
      tell(next.queue);
    }
    const hints: Rung[] = then === "hint" ? [{ kind: "hint", hint: hintOf(rung) }] : [];
    if (!followUp) return { said: hints, bytes: 0 };
    if (!isFinished(next)) {
      const { id, tenant } = record.message;
      return { said: [...hints, { kind: "outbox", id, tenant }], bytes: 0 };
    }
    const whole = withBody(rung);
    const isFact = sourceOf(next, record.outbox) === "fact";
    const followUps: Rung = { kind: "followUp", record: isFact ? withoutBody(rung) : whole };
    return { said: [...hints, followUps], bytes: sizeOf(whole) };
  };

  /** Corrects alarms after the clock was set back; times that callers set stay. */
  const moveAlarmsUp = (byMs: number): void => {
    const wakeAt = now() + limits.ringAheadMs;
    for (const record of [...rows.armed.values()]) {
      const { message, state } = record;
      if (state.kind === "held") {
        const moved = movedUp(state, now(), byMs);
        if (moved) rows.change(message.id, { ...record, state: moved, wakeAt: moved.dueAt });
      } else if (
        isTooFarAhead(
          record.wakeAt ?? 0,
          state.kind === "due" ? limits.ringAheadMsMax : limits.ringAheadMs,
          now(),
        )
      )
        rows.change(message.id, { ...record, wakeAt });
    }
    const isFar = (alarm = 0): boolean => isTooFarAhead(alarm, limits.ringAheadMs, now());
    for (const lane of lanes.lanes.values()) if (isFar(lane.wakeAt)) lanes.rung(lane.id);
    for (const { lane } of queues.rows.values()) if (isFar(lane.wakeAt)) queues.wake(lane.id);
  };

  return {
    ring: async (shards, limitOfEach, sources = alarmSources) => {
      const byMs = setBackMs();
      if (byMs > 0) moveAlarmsUp(byMs);
      const mine = new Set(shards);
      const said: Rung[] = [];
      const tell = (lane: LaneId): void => void said.push({ kind: "lane", lane });
      const ofEach = dueOf(sources, mine, limitOfEach);
      let bytes = 0;
      let isCut = false;
      for (const record of ofEach.flatMap(({ found }) => found)) {
        isCut ||= bytes >= limits.readBytesMax;
        if (isCut) break;
        const rung = ringOne(record, tell);
        said.push(...rung.said);
        bytes += rung.bytes;
      }
      const rungRows = rowSources
        .filter((source) => sources.includes(source))
        .map((source) => ({ source, found: others[source].ring(shards, limitOfEach) }));
      said.push(...rungRows.flatMap(({ found }) => found));
      const isFull = ({ found }: { readonly found: readonly unknown[] }) =>
        found.length >= limitOfEach;
      const full = [...ofEach.filter((each) => isCut || isFull(each)), ...rungRows.filter(isFull)];
      return { rung: said, more: new Set(full.map(({ source }) => source)) };
    },
    next: async (shards, sources = alarmSources) => {
      const mine = new Set(shards);
      let earliest = Infinity;
      const look = (of: Pick<Message, "format" | "shard">, wakeAt = Infinity): void => {
        if (wakeAt < earliest && mine.has(of.shard) && isKnownFormat(of)) earliest = wakeAt;
      };
      for (const { wakeAt, message, state, outbox } of rows.armed.values())
        if (sources.includes(sourceOf(state, outbox))) look(message, wakeAt);
      for (const source of rowSources)
        if (sources.includes(source))
          earliest = Math.min(earliest, others[source].next(shards) ?? Infinity);
      return earliest < Infinity ? earliest : undefined;
    },
  };
}
