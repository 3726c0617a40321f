/** Measures a crowd that waits under one label: how fast a rare label is found in it, and how fast all of it is cancelled. */
import { setTimeout as pause } from "node:timers/promises";
import { closedLoop, openLoop } from "../load/senders.ts";
import { batchTemplate, type PublishHeaders, publishTemplate, token } from "../load/template.ts";
import { atMost } from "../report/goals.ts";
import { figure, table } from "../report/markdown.ts";
import { percentile } from "../statistics.ts";
import { type System } from "../systems/system.ts";
import { type Findings, type Scenario, withPosthaste } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const crowd = 100_000;
const perBatch = 1_000;
const rare = 10;
const lookRounds = 20;
const letters = 100;
const lettersMsMax = 20_000;
const logMsMax = 10_000;
const later = { "Service-Delay": "12h" } as const;
const fillMsMax = 60_000;
const beside = { perSecond: 200, connections: 16 } as const;
const besideForMs = 4_000;
const cancelCallsMax = 5;
const drainMsMax = 30_000;

export const bulk: Scenario = {
  name: "bulk",
  title: "A list by a rare label, and a bulk cancel",
  budgetMs: 90_000,
  run: withPosthaste(run),
};

async function run(stage: Stage, system: System, destination: string): Promise<Findings> {
  await fillCrowd(stage, system, destination);
  const { lookMs, cancelMs, besideMs, retryMs, table } = await measureCrowd(
    stage,
    system,
    destination,
  );
  return {
    blocks: [crowdText, table],
    goals: [
      atMost("p99 of a list by a rare label", lookMs, 30, " ms"),
      atMost("cancel of 100,000 by label", cancelMs, 8_000, " ms"),
      atMost("p99 of a publish during the cancel", besideMs, 60, " ms"),
      atMost("100 dead letters retried in one call", retryMs, 100, " ms"),
    ],
  };
}

export const crowdText = `${crowd.toLocaleString("en-US")} waiting messages have one label; ${rare} with another label are listed ${lookRounds} times, and then the others are cancelled by their label during publishes at ${beside.perSecond}/s. Finally ${letters} dead letters are retried in one call.`;

export async function fillCrowd(
  stage: Stage,
  system: System,
  destination: string,
): Promise<number> {
  await fill(stage, system, destination, crowd, { "Service-Label": "crowd", ...later });
  await fill(stage, system, destination, rare, { "Service-Label": "rare", ...later });
  return crowd + rare;
}

/** Milliseconds. For the list and for the publishes beside the cancellation, the 99th percentile. */
type CrowdFigures = {
  readonly lookMs: number;
  readonly cancelMs: number;
  readonly besideMs: number;
  readonly retryMs: number;
  readonly table: string;
};

export async function measureCrowd(
  stage: Stage,
  system: System,
  destination: string,
): Promise<CrowdFigures> {
  const looks = new Float64Array(lookRounds);
  // The log of six services follows their messages.
  await until(logMsMax, async () => (await lookForRare(system)).found === rare);
  for (let round = 0; round < lookRounds; round++) {
    const { found, tookMs } = await lookForRare(system);
    looks[round] = tookMs;
    if (found !== rare) stage.fault(`${found} of ${rare} were found`);
  }

  const book = stage.books.open((beside.perSecond * besideForMs) / 1000);
  const template = publishTemplate(destination);
  const publishing = openLoop({ port: system.port, template }, book, {
    ...beside,
    forMs: besideForMs,
  });
  const startedAt = performance.now();
  const count = await cancelCrowd(system);
  const cancelMs = performance.now() - startedAt;
  if (count !== crowd) stage.fault(`${count} of ${crowd} were cancelled`);
  await publishing;
  await stage.settle(system.name, book, drainMsMax);
  const retryMs = await retryLetters(stage, system);
  const besideMs = percentile(book.publishMs(), 0.99);
  const lookMs = percentile(looks.sort(), 0.99);
  const heads = [
    "list of the rare label p99, ms",
    "cancel of all, ms",
    "publish p99 meanwhile, ms",
    "retry, ms",
  ];
  const figures = [lookMs, cancelMs, besideMs, retryMs].map(figure);
  return { lookMs, cancelMs, besideMs, retryMs, table: table(heads, [figures]) };
}

async function lookForRare(system: System): Promise<{ found: number; tookMs: number }> {
  const startedAt = performance.now();
  const answered = await ask(system, "GET", "/v2/logs?label=rare");
  const tookMs = performance.now() - startedAt;
  const { events } = (await answered.json()) as { readonly events: readonly unknown[] };
  return { found: events.length, tookMs };
}

async function until(msMax: number, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + msMax;
  while (!(await holds()) && performance.now() < end) await pause(100);
}

/** None arrives during the run. */
async function fill(
  stage: Stage,
  { port }: System,
  destination: string,
  count: number,
  headers: PublishHeaders,
): Promise<void> {
  const size = Math.min(perBatch, count);
  const template = batchTemplate(destination, size, headers);
  const book = stage.books.open(count, { kind: "never" });
  await closedLoop({ port, template }, book, { connections: 2, forMs: fillMsMax });
  if (book.accepted !== count) stage.fault(`${book.accepted} of ${count} were accepted`);
}

/** Cancels the crowd. A call waits at most a minute, and the next one joins the same bulk action. */
async function cancelCrowd(system: System): Promise<number | undefined> {
  for (let call = 0; call < cancelCallsMax; call++) {
    const answer = await ask(system, "DELETE", "/v2/messages?label=crowd");
    const { cancelled } = (await answer.json()) as { readonly cancelled?: number };
    if (answer.ok) return cancelled;
  }
  return undefined;
}

/** Retries the dead letters of messages to a port without a listener. */
async function retryLetters(stage: Stage, system: System): Promise<number> {
  const dead = await stage.sink();
  const { port } = dead;
  await dead.stop();
  const headers = { "Service-Label": "dead", "Service-Retries": "0" };
  await fill(stage, system, `http://127.0.0.1:${port}/x`, letters, headers);
  await until(lettersMsMax, async () => (await countLetters(system)) === letters);
  const startedAt = performance.now();
  const retried = await ask(system, "POST", "/v2/dlq/retry?label=dead", {
    "Service-Delay": "12h",
  });
  const tookMs = performance.now() - startedAt;
  const { responses } = (await retried.json()) as { readonly responses: readonly unknown[] };
  if (responses.length !== letters) stage.fault(`${responses.length} of ${letters} were retried`);
  return tookMs;
}

async function countLetters(system: System): Promise<number> {
  const listed = await ask(system, "GET", "/v2/dlq?label=dead&count=100");
  const { messages } = (await listed.json()) as { readonly messages: readonly unknown[] };
  return messages.length;
}

const ask = (
  { port }: System,
  method: string,
  path: string,
  headers: PublishHeaders = {},
): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...headers },
  });
