import { describe, expect, it } from "@jest/globals";
import { check } from "./checker.ts";
import {
  type Ack,
  type Arrival,
  type Fault,
  type Firing,
  type History,
  type Letter,
  type Refusal,
  type RunEnd,
  type RunStart,
  type ScheduleLife,
  type Visit,
} from "./journal.ts";

const second = 1_000;
const t = 1_000 * second;

const ack = (more: Partial<Ack> = {}): Ack => ({
  ...{ n: 1, kind: "plain", id: "msg_1", sentAt: t, at: t + 5, notBefore: t },
  ...more,
});
const arrival = (more: Partial<Arrival> = {}): Arrival => {
  const at = more.at ?? t + 10;
  return {
    ...{ n: 1, id: "msg_1", retried: 0, status: 200, intact: true },
    ...more,
    at,
    until: more.until ?? at + 1,
  };
};
const refusal = (more: Partial<Refusal> = {}): Refusal => ({
  ...{ n: 1, kind: "plain", sentAt: t, at: t + 5, status: 503, text: "" },
  ...more,
});
const fault = (more: Partial<Fault> = {}): Fault => {
  const at = more.at ?? t;
  const until = more.until ?? at + second;
  return { what: "a fault", leaves: [], ...more, at, until, over: more.over ?? until };
};
const during = (...leaves: Fault["leaves"]): readonly Fault[] => [fault({ leaves })];
const callback = (more: Partial<Arrival> & Pick<Arrival, "tells">): Arrival =>
  arrival({ n: -1, id: "msg_cb", ...more });
const failed = { source: "msg_1", retried: 1, dlqId: "dlq_1" };
const letter: Letter = { at: t + second, dlqId: "dlq_1", status: 200 };

const runStart = (more: Partial<RunStart> = {}): RunStart => ({
  ...{ n: 0, id: "wfr_n0", sentAt: t, at: t + 5 },
  ...more,
});
const visit = (more: Partial<Visit> = {}): Visit => {
  const at = more.at ?? t + 10;
  return {
    ...{ run: "wfr_n0", id: "msg_r", status: 200, digest: "d", steps: [] },
    ...more,
    at,
    until: more.until ?? at + 1,
  };
};
const runEnd = (more: Partial<RunEnd> = {}): RunEnd => ({ n: 0, at: t + 50, value: 3, ...more });

/** A schedule of every minute, with three slots. */
const schedule: ScheduleLife = {
  ...{ id: "scd_1", askedAt: 30 * second, madeAt: 31 * second },
  ...{ endsFrom: 210 * second, endedAt: 211 * second },
};
const firing = (minute: number, uid = "x"): Firing => ({
  at: minute * 60 * second,
  schedule: "scd_1",
  id: `msg_00000000${minute}${uid}_s`,
});

const rulesOf = (history: Partial<History>): readonly string[] => {
  const { violations } = check({
    ...{ acks: [], refusals: [], arrivals: [], letters: [], faults: [] },
    ...{ starts: [], visits: [], ends: [], schedules: [], firings: [] },
    ...history,
  });
  return violations.map((shown) => shown.slice(0, shown.indexOf(":")));
};

/** Returns arrivals of a lane at these times, one after another or together. */
const inLane = (
  lane: NonNullable<Arrival["lane"]>,
  times: readonly number[],
  lastsMs: number,
): readonly Arrival[] =>
  times.map((at, i) =>
    arrival({ lane, n: i, id: `msg_${i}`, at: t + at, until: t + at + lastsMs }),
  );
/** Returns messages acknowledged one after another, numbered from 0. */
const inQueue = (count: number): readonly Ack[] =>
  Array.from({ length: count }, (_, i) =>
    ack({ kind: "queued", n: 2 * i, id: `msg_${i}`, sentAt: t + 10 * i, at: t + 10 * i + 5 }),
  );
const queued = (i: number, at: number, more: Partial<Arrival> = {}): Arrival =>
  arrival({ queue: "line-1", n: 2 * i, id: `msg_${i}`, at: t + at, until: t + at + 50, ...more });
const every = (ms: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, i) => i * ms);

/** Returns a message that was delivered, and delivered again after these seconds. */
const again = (seconds: number, faults: readonly Fault[] = [], more: Partial<Arrival> = {}) => ({
  acks: [ack()],
  arrivals: [arrival(), arrival({ at: t + seconds * second, ...more })],
  faults,
});
const underOneId = (...ids: readonly string[]) => ({
  acks: ids.map((id) => ack({ kind: "deduplicated", id })),
  arrivals: [arrival(), arrival({ id: "msg_2" })],
});

const wholeLine = inLane("paced", every(1, 22), 1);

/** Returns three at once in a lane of two, some seconds after a process stood still. */
const threeAfterStill = (seconds: number) => ({
  arrivals: inLane("pair-0", [0, 10, 20], 100),
  faults: [fault({ at: t - 40 * second, until: t - seconds * second, leaves: ["overlap"] })],
});

type Case = readonly [name: string, history: Partial<History>];

const sound: readonly Case[] = [
  ["one arrival for one acknowledgement", { acks: [ack()], arrivals: [arrival()] }],
  ["a message that nobody has acknowledged, delivered", { arrivals: [arrival()] }],
  [
    "a refused attempt, and the next that succeeds",
    {
      acks: [ack({ kind: "flaky" })],
      arrivals: [arrival({ status: 503 }), arrival({ at: t + 200, retried: 1 })],
    },
  ],
  [
    "a repeat after a fault that leaves room for it, within the lease",
    again(35, [fault({ at: t + 20 * second, leaves: ["repeat"] })]),
  ],
  [
    "each attempt told, one of them twice by the same message",
    {
      acks: [ack({ kind: "callback" })],
      arrivals: [
        arrival({ status: 503 }),
        arrival({ at: t + 200, retried: 1 }),
        callback({ id: "msg_c0", tells: { source: "msg_1", retried: 0 }, status: 0 }),
        callback({ id: "msg_c0", tells: { source: "msg_1", retried: 0 }, at: t + 300 }),
        callback({ id: "msg_c1", tells: { source: "msg_1", retried: 1 } }),
      ],
      faults: during("repeat"),
    },
  ],
  [
    "a failed message whose dead letter is there",
    {
      acks: [ack({ kind: "failing" })],
      arrivals: [
        arrival({ status: 500 }),
        arrival({ status: 500, retried: 1, at: t + 200 }),
        callback({ tells: failed }),
      ],
      letters: [letter],
    },
  ],
  [
    "as many at once as the lane allows, the next when one has ended",
    { arrivals: inLane("pair-0", [0, 50, 100, 150], 100) },
  ],
  ["more at once after a process stood still", threeAfterStill(3)],
  [
    "messages of a queue one after the other, over a retry",
    {
      acks: inQueue(2),
      arrivals: [queued(0, 100, { status: 503 }), queued(0, 200, { retried: 1 }), queued(1, 250)],
    },
  ],
  [
    "each slot of a schedule once, however often its message came",
    { schedules: [schedule], firings: [firing(1), firing(2), firing(2), firing(3)] },
  ],
  ["as many in a time as the lane allows", { arrivals: inLane("paced", every(667, 150), 1) }],
  [
    "a window that was forgotten",
    { arrivals: wholeLine, faults: [fault({ leaves: ["forget"], over: t })] },
  ],
  [
    "a deduplication id answered twice with one message",
    {
      acks: [ack({ kind: "deduplicated" }), ack({ kind: "deduplicated", at: t + 300 })],
      arrivals: [arrival()],
    },
  ],
  [
    "a message delivered before the publish that was acknowledged: an earlier one of the same id was not",
    {
      refusals: [refusal({ kind: "deduplicated" })],
      acks: [ack({ kind: "deduplicated", sentAt: t + 3 * second, notBefore: t + 3 * second })],
      arrivals: [arrival()],
      faults: during("refuse"),
    },
  ],
  [
    "a deduplication id accepted anew after it was forgotten, and both delivered",
    {
      acks: [
        ack({ kind: "deduplicated" }),
        ack({ kind: "deduplicated", id: "msg_2", sentAt: t + 9 * second, at: t + 9 * second }),
      ],
      arrivals: [arrival(), arrival({ id: "msg_2", at: t + 10 * second })],
      faults: [fault({ at: t + 5 * second, leaves: ["forget"] })],
    },
  ],
  [
    "a connection that broke when the gateway was killed",
    { refusals: [refusal({ status: 0 })], faults: during("break") },
  ],
  ["503 while the store is away", { refusals: [refusal()], faults: during("refuse") }],
  [
    "503 for a publish that asks for deduplication while Redis is away",
    { refusals: [refusal({ kind: "deduplicated" })], faults: during("refuse deduplicated") },
  ],
  [
    "503 of a gateway that says it has too much to do",
    { refusals: [refusal({ text: `{"error":"too much load, come back later"}` })] },
  ],
  [
    "a message in a lane that waited until Redis was back",
    {
      acks: [ack({ kind: "paired", sentAt: t + second })],
      arrivals: [arrival({ lane: "pair-0", at: t + 3 * second })],
      faults: [fault({ until: t + 2 * second, stopsLanes: true })],
    },
  ],
  [
    "a run that has returned what its steps have, each of them once",
    {
      starts: [runStart()],
      visits: [visit({ steps: ["one"] }), visit({ id: "msg_s", digest: "e", steps: ["two"] })],
      ends: [runEnd()],
    },
  ],
  [
    "a step that is done again, since its endpoint could not tell what it returned",
    { visits: [visit({ steps: ["one"], status: 500 }), visit({ steps: ["one"] })] },
  ],
  [
    "a step that is done again, since the deliverer that asked for it was killed",
    {
      visits: [visit({ steps: ["one"] }), visit({ at: t + 3 * second, steps: ["one"] })],
      faults: during("repeat"),
    },
  ],
];

const broken: readonly [name: string, rule: string, history: Partial<History>][] = [
  ["its run was acknowledged, and stands", "a run has not ended", { starts: [runStart()] }],
  ["its run has another result", "a run has another result", { ends: [runEnd({ value: 4 })] }],
  [
    "its history was another in the second attempt",
    "an entry was delivered with two histories",
    { visits: [visit(), visit({ digest: "e" })] },
  ],
  [
    "its step was done again",
    "a step was done again without a cause",
    { visits: [visit({ steps: ["one"] }), visit({ at: t + 60 * second, steps: ["one"] })] },
  ],
  ["it never arrived", "lost", { acks: [ack()] }],
  [
    "it arrived, and never with success",
    "lost",
    { acks: [ack()], arrivals: [arrival({ status: 503 })] },
  ],
  [
    "it failed, and nobody was told",
    "lost",
    { acks: [ack({ kind: "failing" })], arrivals: [arrival({ status: 500 })] },
  ],
  [
    "under its deduplication id only an earlier message lives",
    "lost",
    {
      acks: [ack({ kind: "deduplicated", id: "msg_2" })],
      faults: during("forget"),
      arrivals: [arrival()],
    },
  ],
  [
    "it arrived before its time",
    "early",
    { acks: [ack({ kind: "delayed", notBefore: t + 2 * second })], arrivals: [arrival()] },
  ],
  ["its body was another", "altered", { acks: [ack()], arrivals: [arrival({ intact: false })] }],
  [
    "it was tried more often than asked for",
    "more attempts than asked for",
    {
      acks: [ack({ kind: "failing" })],
      arrivals: [
        arrival({ status: 500, retried: 2 }),
        callback({ tells: { ...failed, retried: 2 } }),
      ],
      letters: [letter],
    },
  ],
  [
    "one of a queue came before the one before it had been delivered",
    "out of turn in a queue",
    {
      acks: inQueue(2),
      arrivals: [queued(0, 100, { status: 503 }), queued(1, 200), queued(0, 300, { retried: 1 })],
    },
  ],
  [
    "one of a queue came first, and a fault excuses no order",
    "out of turn in a queue",
    {
      acks: inQueue(2),
      arrivals: [queued(1, 100), queued(0, 300)],
      faults: during("repeat", "overlap"),
    },
  ],
  [
    "two of a queue came at once",
    "more at once than the lane allows",
    { arrivals: [queued(0, 100), queued(1, 120)] },
  ],
  [
    "a slot had two messages",
    "a slot fired twice",
    { schedules: [schedule], firings: [firing(1), firing(2), firing(2, "y"), firing(3)] },
  ],
  [
    "a slot had no message, and a fault excuses none",
    "a slot was left out",
    {
      schedules: [schedule],
      firings: [firing(1), firing(3)],
      faults: during("repeat", "overlap", "forget", "break", "refuse"),
    },
  ],
  [
    "a slot came after the removal",
    "a slot that is none",
    { schedules: [schedule], firings: [firing(1), firing(2), firing(3), firing(4)] },
  ],
  ["it came again after a success", "repeated without a fault", again(3)],
  [
    "it came again after a success, as a retry",
    "repeated without a fault",
    again(3, [], { retried: 1 }),
  ],
  [
    "a failed attempt was made again, and none of its retries used",
    "repeated without a fault",
    { acks: [ack()], arrivals: [arrival({ status: 503 }), arrival({ at: t + 3 * second })] },
  ],
  [
    "it came again, and what was broken meanwhile does not explain it",
    "repeated without a fault",
    again(3, during("break", "forget", "overlap", "refuse")),
  ],
  [
    "it came again, and the fault was before",
    "repeated without a fault",
    again(3, [fault({ at: t - 9 * second, leaves: ["repeat"] })]),
  ],
  [
    "it came again, and the fault was after",
    "repeated without a fault",
    again(3, [fault({ at: t + 9 * second, leaves: ["repeat"] })]),
  ],
  [
    "it came again, and the fault was later than its lease",
    "repeated without a fault",
    again(60, [fault({ at: t + 40 * second, leaves: ["repeat"] })]),
  ],
  [
    "a callback came again",
    "repeated without a fault",
    {
      arrivals: [
        callback({ tells: { source: "msg_1", retried: 0 } }),
        callback({ tells: { source: "msg_1", retried: 0 }, at: t + second }),
      ],
    },
  ],
  [
    "an attempt before the last was never told",
    "callback lost",
    {
      acks: [ack({ kind: "callback" })],
      arrivals: [
        arrival({ status: 503 }),
        arrival({ retried: 1, at: t + 200 }),
        callback({ tells: { source: "msg_1", retried: 1 } }),
      ],
    },
  ],
  [
    "two messages told of one attempt",
    "two callbacks for one attempt",
    {
      arrivals: [
        callback({ tells: { source: "msg_1", retried: 0 } }),
        callback({ id: "msg_other", tells: { source: "msg_1", retried: 0 } }),
      ],
    },
  ],
  [
    "two messages told of its end",
    "two callbacks for one attempt",
    {
      arrivals: [
        callback({ tells: failed }),
        callback({ id: "msg_other", tells: { ...failed, retried: 2 } }),
      ],
      letters: [letter],
    },
  ],
  [
    "its dead letter was not there",
    "no dead letter when its failure callback arrived",
    { arrivals: [callback({ tells: failed })], letters: [{ ...letter, status: 404 }] },
  ],
  [
    "nobody has looked whether its dead letter was there",
    "dead letter not looked up",
    { arrivals: [callback({ tells: failed })] },
  ],
  [
    "three ran at once in a lane of two",
    "more at once than the lane allows",
    { arrivals: inLane("pair-0", [0, 10, 20], 100) },
  ],
  [
    "three ran at once, long after a process stood still",
    "more at once than the lane allows",
    threeAfterStill(9),
  ],
  ["a whole line went out at once", "more in a time than the lane allows", { arrivals: wholeLine }],
  [
    "it went out a little too fast for long",
    "more in a time than the lane allows",
    { arrivals: inLane("paced", every(500, 150), 1) },
  ],
  [
    "what is in a lane was delivered while nobody could give it a slot",
    "delivered without a slot",
    {
      acks: [ack({ kind: "paired", sentAt: t + 500 })],
      arrivals: [arrival({ lane: "pair-0", at: t + 600 })],
      faults: [fault({ stopsLanes: true })],
    },
  ],
  [
    "two messages live under one deduplication id",
    "two messages under one deduplication id",
    underOneId("msg_1", "msg_2"),
  ],
  [
    "a second message lives under a deduplication id, and nobody knows of it",
    "two messages under one deduplication id",
    underOneId("msg_1"),
  ],
  [
    "two messages live under one deduplication id, which was forgotten too late for that",
    "two messages under one deduplication id",
    {
      ...underOneId("msg_1", "msg_2"),
      faults: [fault({ at: t + 5 * second, leaves: ["forget"] })],
    },
  ],
  ["a publish was refused", "refused", { refusals: [refusal()] }],
  [
    "a publish was refused, and what was broken does not explain it",
    "refused",
    { refusals: [refusal()], faults: during("refuse deduplicated", "break", "repeat") },
  ],
  [
    "a publish was answered 500 while the store was away",
    "refused",
    { refusals: [refusal({ status: 500 })], faults: during("refuse", "break") },
  ],
  [
    "a connection broke while the store was away",
    "refused",
    { refusals: [refusal({ status: 0 })], faults: during("refuse") },
  ],
];

describe("the checker", () => {
  it.each(sound)("accepts %s", (_, history) => {
    expect(rulesOf(history)).toEqual([]);
  });

  it.each(broken)("finds that %s: %s", (_, rule, history) => {
    expect(rulesOf(history)).toEqual([rule]);
  });
});
