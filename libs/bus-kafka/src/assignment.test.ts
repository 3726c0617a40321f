import { describe, expect, it } from "@jest/globals";
import { virtualClock } from "@posthaste/testing";
import { type KafkaMessage } from "kafkajs";
import { Assignment } from "./assignment.ts";

describe("hearing a partition", () => {
  it("what comes while the handler works goes in its next call", async () => {
    const { assignment, calls, finish } = assigned();
    assignment.take(0, messages(1), "0");
    assignment.take(0, messages(2), "2");
    assignment.take(0, messages(1), "3");
    expect(calls).toEqual([1]);

    await finish();

    expect(calls).toEqual([1, 3]);
  });

  it("only what has been heard may be committed, up to its end", async () => {
    const { assignment, finish } = assigned();
    assignment.take(0, messages(1), "4");
    assignment.take(0, messages(1), "9");
    expect(assignment.uncommitted()).toEqual([]);

    await finish();
    expect(assignment.uncommitted()).toEqual([{ partition: 0, offset: "5" }]);
    await finish();

    expect(assignment.uncommitted()).toEqual([{ partition: 0, offset: "10" }]);
  });

  it("what is committed is not committed again", async () => {
    const { assignment, finish } = assigned();
    assignment.take(0, messages(1), "4");
    await finish();

    assignment.committed(assignment.uncommitted());

    expect(assignment.uncommitted()).toEqual([]);
  });

  it("an offset beyond what a number can hold is counted right", async () => {
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
  it("pauses the partition, and what has been heard resumes it", async () => {
    const { assignment, paused, finish } = assigned();
    assignment.take(0, messages(1), "0");
    assignment.take(0, messages(1_000), "1000");
    expect([...paused]).toEqual([0]);

    await finish();
    expect([...paused]).toEqual([0]);
    await finish();

    expect([...paused]).toEqual([]);
  });

  it("is counted in bytes, too", () => {
    const { assignment, paused } = assigned();

    assignment.take(0, messages(5, 1_000_000), "4");

    expect([...paused]).toEqual([0]);
  });
});

describe("when the group has given the partitions anew", () => {
  it("nothing more is handed over, and what was in hand is not committed", async () => {
    const { assignment, calls, finish } = assigned();
    assignment.take(0, messages(1), "0");
    assignment.take(0, messages(1), "1");

    const ended = assignment.end(virtualClock(), 1_000);
    await finish();
    await ended;
    assignment.take(0, messages(1), "2");

    expect(calls).toEqual([1]);
  });

  it("a handler that never ends is waited for no longer than asked", async () => {
    const { assignment } = assigned();
    const clock = virtualClock();
    assignment.take(0, messages(1), "0");

    const ended = assignment.end(clock, 1_000);
    await clock.advance(1_000);

    await expect(ended).resolves.toBeUndefined();
  });

  it("a partition that was not given is not heard", () => {
    const { assignment, calls } = assigned();

    assignment.take(7, messages(1), "0");

    expect(calls).toEqual([]);
  });
});

/** `calls`: how many messages each call of the handler was given. `finish` ends the oldest call. */
function assigned() {
  const calls: number[] = [];
  const paused = new Set<number>();
  const open: (() => void)[] = [];
  const assignment = new Assignment({
    partitions: [0, 1],
    handOver: (messages) => {
      calls.push(messages.length);
      return new Promise((resolve) => open.push(() => resolve(true)));
    },
    pause: (partition) => void paused.add(partition),
    resume: (partition) => void paused.delete(partition),
    progressed: () => undefined,
  });
  const finish = (): Promise<void> => {
    open.shift()?.();
    return new Promise((resolve) => setImmediate(resolve));
  };
  return { assignment, calls, paused, finish };
}

const messages = (count: number, bytes = 10): KafkaMessage[] =>
  Array.from({ length: count }, () => ({
    key: null,
    value: Buffer.alloc(bytes),
    timestamp: "0",
    attributes: 0,
    offset: "0",
    headers: {},
  }));
