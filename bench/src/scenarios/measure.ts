/** Measures one system once: publishes as fast as it answers, waits for the last arrival, and counts. */
import { closedLoop } from "../load/senders.ts";
import { type Template } from "../load/template.ts";
import { type System } from "../systems/system.ts";
import { cpuMs } from "../systems/usage.ts";
import { type Stage } from "./stage.ts";

export type Throughput = {
  readonly arrived: number;
  /** From the first send to the last arrival. */
  readonly deliveredPerSecond: number;
  /** While publishing. */
  readonly acceptedPerSecond: number;
  readonly cpuUsPerMessage: number;
};

export type Load = {
  readonly template: Template;
  readonly connections: number;
  readonly forMs: number;
  readonly messagesMax?: number;
};

const messagesMaxDefault = 400_000;
const drainMsMax = 30_000;

export async function measureThroughput(
  stage: Stage,
  { name, port, pids }: System,
  { template, connections, forMs, messagesMax = messagesMaxDefault }: Load,
): Promise<Throughput> {
  const book = stage.books.open(messagesMax);
  const cpuBefore = cpuMs(pids);
  const startedAt = performance.now();
  await closedLoop({ port, template }, book, { connections, forMs });
  const publishingMs = performance.now() - startedAt;
  const { arrived, accepted } = await stage.settle(name, book, drainMsMax);
  const usedMs = cpuMs(pids) - cpuBefore;
  return {
    arrived,
    deliveredPerSecond: (arrived * 1000) / (book.lastArrivedAt - book.firstSentAt),
    acceptedPerSecond: (accepted * 1000) / publishingMs,
    cpuUsPerMessage: (usedMs * 1000) / arrived,
  };
}
