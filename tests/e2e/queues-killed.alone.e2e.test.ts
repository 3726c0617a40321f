/** Tests that a process killed in the middle of its queues' calls leaves the rest, in order, to the next one. */
import { expect, it } from "@jest/globals";
import { setTimeout as sleep } from "node:timers/promises";
import { destination, server, startBeforeEach } from "./alone-suite.ts";
import { eventually } from "./client.ts";
import { service } from "./dialects.ts";

const queues = [
  { name: "one-a", parallelism: 1 },
  { name: "one-b", parallelism: 1 },
  { name: "three", parallelism: 3 },
] as const;
type Queue = (typeof queues)[number];

const count = 60;
const killsAt = [10, 30, 50];
/** The share of messages that are refused at their first attempt: one in this many. */
const refusedEach = 5;
const holdMs = 10;

startBeforeEach();

it("calls of queues survive kill -9: each message arrives in the order of its queue, and no more at once than the queue's parallelism", async () => {
  const { client, process } = server;
  for (const { name: queueName, parallelism } of queues)
    await client.postJson("/v2/queues", { queueName, parallelism });
  const lines = new Map(queues.map((queue) => [queue, new Line(queue)]));
  let restarted = Promise.resolve();
  let kills = 0;
  for (const [queue, line] of lines)
    destination.answers(`/${queue.name}`, ({ body }, response, nth) => {
      const end = line.begin(Number(body.toString()));
      response.once("close", () => end("cut"));
      setTimeout(() => response.writeHead(end("answered")).end(), holdMs);
      if (queue !== queues[0] || killsAt[kills] !== nth) return;
      kills += 1;
      restarted = process.kill().then(() => process.start());
    });

  await Promise.all(queues.map((queue) => enqueueAll(queue)));
  await eventually(
    () => Promise.resolve([...lines.values()].map(({ delivered }) => delivered.size)),
    (sizes) => sizes.every((size) => size === count),
  );
  await restarted;

  expect(kills).toBe(killsAt.length);
  for (const [{ parallelism }, line] of lines) {
    expect(line.outOfTurn).toEqual([]);
    expect(line.runningMax).toBeLessThanOrEqual(parallelism);
    expect(line.runningMax > 1).toBe(parallelism > 1);
    // An interrupted call is repeated, and no other.
    expect(line.calls).toBeLessThanOrEqual(count + count / refusedEach + kills * parallelism);
  }
});

/** Enqueues in sequence. An interrupted publish is repeated under its deduplication id until it is known to be stored. */
async function enqueueAll({ name }: Queue): Promise<void> {
  for (let n = 0; n < count; n++) {
    const target = `/v2/enqueue/${name}/${destination.url(`/${name}`)}`;
    const headers = service({
      "Deduplication-Id": `${name}-${n}`,
      Retries: "5",
      "Retry-Delay": "20",
    });
    const enqueue = () =>
      server.client.post(target, headers, String(n)).then(
        ({ status }) => status === 200 || status === 202,
        () => false,
      );
    while (!(await enqueue())) await sleep(holdMs);
  }
}

/** A queue from the destination's side. */
class Line {
  readonly #parallelism: number;
  readonly #begun = new Set<number>();
  readonly delivered = new Set<number>();
  readonly outOfTurn: object[] = [];
  #running = 0;
  runningMax = 0;
  calls = 0;

  constructor({ parallelism }: Queue) {
    this.#parallelism = parallelism;
  }

  /**
   * Begins a call. A message keeps its turn over its retries: at its first attempt all messages before it are
   * delivered, except as many as may run beside it. Returns a function for the end of the call, which returns the
   * status to answer.
   */
  begin(n: number): (how: "answered" | "cut") => number {
    this.calls += 1;
    this.runningMax = Math.max(this.runningMax, (this.#running += 1));
    const isFirst = !this.#begun.has(n);
    this.#begun.add(n);
    const before = Array.from({ length: n }, (_, earlier) => earlier);
    const open = before.filter((earlier) => !this.delivered.has(earlier));
    if (isFirst && open.length >= this.#parallelism) this.outOfTurn.push({ n, open });
    const status = isFirst && n % refusedEach === 0 ? 500 : 200;
    let isOver = false;
    return (how) => {
      if (!isOver) {
        isOver = true;
        this.#running -= 1;
        if (how === "answered" && status === 200) this.delivered.add(n);
      }
      return status;
    };
  }
}
