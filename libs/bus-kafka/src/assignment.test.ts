import { describe, expect, it } from "@jest/globals";
import { virtualClock } from "@posthaste/testing";
import { type KafkaMessage } from "kafkajs";
import { Assignment } from "./assignment.ts";

describe("reading a partition", () => {
  it("events that arrive while the handler works go in its next call", async () => {
    const { assignment, calls, finish } = assigned();
    assignment.take(0, messages(1), "0");
    assignment.take(0, messages(2, { from: 1 }), "2");
    assignment.take(0, messages(1, { from: 3 }), "3");
    expect(calls).toEqual([1]);

    await finish();

    expect(calls).toEqual([1, 3]);
  });

  it("only handled events are committed, up to the last one without a gap", async () => {
    const { assignment, finish } = assigned();
    assignment.take(0, messages(1, { from: 4 }), "4");
    assignment.take(0, messages(1, { from: 5 }), "9");
    expect(assignment.uncommitted()).toEqual([]);

    await finish();
    expect(assignment.uncommitted()).toEqual([{ partition: 0, offset: "5" }]);
    await finish();

    expect(assignment.uncommitted()).toEqual([{ partition: 0, offset: "10" }]);
  });

  it("a committed offset is not committed again", async () => {
    const { assignment, finish } = assigned();
    assignment.take(0, messages(1, { from: 4 }), "4");
    await finish();

    assignment.committed(assignment.uncommitted());

    expect(assignment.uncommitted()).toEqual([]);
  });

  it("an offset beyond the range of a number is counted exactly", async () => {
    const { assignment, finish } = assigned();

    assignment.take(0, messages(1), "9007199254740993");
    await finish();

    expect(assignment.uncommitted()).toEqual([{ partition: 0, offset: "9007199254740994" }]);
  });

  it("partitions do not wait for each other", () => {
    const { assignment, calls } = assigned();

    assignment.take(0, messages(1), "0");
    assignment.take(1, messages(2), "1");

    expect(calls).toEqual([1, 2]);
  });
});

describe("too much in hand", () => {
  it("does not occur if each event is handled at once, however many bytes it has", async () => {
    const { assignment, paused, finish } = assigned();
    for (let n = 0; n < 20; n++) {
      assignment.take(0, messages(1, { from: n, bytes: 5 * 1024 * 1024 }), String(n));
      await finish();
    }

    expect([...paused]).toEqual([]);
  });

  it("pauses the partition, and handled events resume it", async () => {
    const { assignment, paused, finish } = assigned();
    assignment.take(0, messages(1), "0");
    assignment.take(0, messages(1_000, { from: 1 }), "1000");
    expect([...paused]).toEqual([0]);

    await finish();
    expect([...paused]).toEqual([0]);
    await finish();

    expect([...paused]).toEqual([]);
  });

  it("is counted in bytes, too", () => {
    const { assignment, paused } = assigned();

    assignment.take(0, messages(9, { bytes: 1_000_000 }), "8");

    expect([...paused]).toEqual([0]);
  });

  it("is smaller for each partition the more there are: the events in hand are bounded in total", () => {
    const { assignment, paused } = assigned();
    const partitions = Array.from({ length: 32 }, (_, n) => n);
    assignment.given(partitions);

    for (const partition of partitions)
      assignment.take(partition, messages(2, { bytes: 300_000 }), "1");

    expect([...paused]).toEqual(partitions);
  });
});

describe("when the group has given the partitions anew", () => {
  it("a partition that stays ours keeps the events in hand: nothing is committed beyond a handler that hangs", async () => {
    const { assignment, calls, finish } = assigned();
    assignment.take(0, messages(5, { from: 0 }), "4");

    assignment.given([0, 1]);
    assignment.given([0]);
    assignment.take(0, messages(2, { from: 5 }), "6");
    expect(assignment.uncommitted()).toEqual([]);
    await finish();
    expect(assignment.uncommitted()).toEqual([{ partition: 0, offset: "5" }]);
    await finish();

    expect(calls).toEqual([5, 2]);
    expect(assignment.uncommitted()).toEqual([{ partition: 0, offset: "7" }]);
  });

  it("events in hand or handled are not taken again when they are fetched again from the committed offset", async () => {
    const { assignment, calls, finish } = assigned();
    assignment.take(0, messages(2, { from: 3 }), "4");
    await finish();
    assignment.take(0, messages(2, { from: 5 }), "6");

    assignment.given([0, 1]);
    assignment.take(0, messages(3, { from: 3 }), "5");
    assignment.take(0, messages(3, { from: 6 }), "8");
    await finish();
    await finish();

    expect(calls).toEqual([2, 2, 2]);
    expect(assignment.uncommitted()).toEqual([{ partition: 0, offset: "9" }]);
  });

  it("a partition that begins before the committed offset is a new one of that name, and is read from its beginning", async () => {
    const { assignment, calls, finish } = assigned();
    assignment.take(0, messages(2, { from: 100 }), "101");
    await finish();
    assignment.committed(assignment.uncommitted());

    assignment.take(0, messages(3, { from: 0 }), "2");
    await finish();

    expect(calls).toEqual([2, 3]);
    expect(assignment.uncommitted()).toEqual([{ partition: 0, offset: "3" }]);
  });

  it("a partition that is taken away is read no more, and begins anew when it returns", async () => {
    const { assignment, calls, finish } = assigned();
    assignment.take(0, messages(1, { from: 0 }), "0");
    assignment.take(0, messages(1, { from: 1 }), "1");

    assignment.given([1]);
    assignment.take(0, messages(1, { from: 2 }), "2");
    await finish();
    expect(calls).toEqual([1]);
    expect(assignment.uncommitted()).toEqual([]);
    assignment.given([0, 1]);
    assignment.take(0, messages(2, { from: 0 }), "1");
    await finish();

    expect(calls).toEqual([1, 2]);
    expect(assignment.uncommitted()).toEqual([{ partition: 0, offset: "2" }]);
  });

  it("a paused partition is resumed when it returns, and stays paused while it is assigned here", () => {
    const { assignment, paused } = assigned();
    assignment.take(0, messages(1_000), "999");
    assignment.take(1, messages(1_000), "999");

    assignment.given([1]);
    assignment.given([0, 1]);

    expect([...paused]).toEqual([1]);
  });

  it("nothing more is handed over after the end", async () => {
    const { assignment, calls, finish } = assigned();
    assignment.take(0, messages(1), "0");
    assignment.take(0, messages(1, { from: 1 }), "1");

    const ended = assignment.end(virtualClock(), 1_000);
    await finish();
    await ended;
    assignment.take(0, messages(1, { from: 2 }), "2");

    expect(calls).toEqual([1]);
  });

  it("a handler that never ends is waited for no longer than the given time", async () => {
    const { assignment } = assigned();
    const clock = virtualClock();
    assignment.take(0, messages(1), "0");

    const ended = assignment.end(clock, 1_000);
    await clock.advance(1_000);

    await expect(ended).resolves.toBeUndefined();
  });

  it("a partition that was not assigned is not read", () => {
    const { assignment, calls } = assigned();

    assignment.take(7, messages(1), "0");

    expect(calls).toEqual([]);
  });
});

/** Opens an assignment. `calls`: how many messages each call of the handler was given. `finish` ends the oldest call. */
function assigned() {
  const calls: number[] = [];
  const paused = new Set<number>();
  const open: (() => void)[] = [];
  const assignment = new Assignment({
    handOver: (messages) => {
      calls.push(messages.length);
      return new Promise((resolve) => open.push(() => resolve(true)));
    },
    pause: (partition) => void paused.add(partition),
    resume: (partition) => void paused.delete(partition),
    progressed: () => undefined,
  });
  assignment.given([0, 1]);
  const finish = (): Promise<void> => {
    open.shift()?.();
    return new Promise((resolve) => setImmediate(resolve));
  };
  return { assignment, calls, paused, finish };
}

const messages = (count: number, { from = 0, bytes = 10 } = {}): KafkaMessage[] =>
  Array.from({ length: count }, (_, n) => ({
    key: null,
    value: Buffer.alloc(bytes),
    timestamp: "0",
    attributes: 0,
    offset: String(from + n),
    headers: {},
  }));
