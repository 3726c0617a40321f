/** Measures whether due messages come in time, and the cost of waiting, while a million others wait for a time weeks ahead. */
import { setTimeout as sleep } from "node:timers/promises";
import { openLoop } from "../load/senders.ts";
import { publishTemplate } from "../load/template.ts";
import { atMost } from "../report/goals.ts";
import { figure, table } from "../report/markdown.ts";
import { percentile } from "../statistics.ts";
import { type System } from "../systems/system.ts";
import { cpuMs, residentMiB } from "../systems/usage.ts";
import { fill } from "./fill.ts";
import { type Findings, type Scenario, withPosthaste } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const pendingWanted = 1_000_000;
const fillMsMax = 90_000;
/** The standalone gives memory back after some seconds without work. */
const calmMs = 12_000;
const idleMs = 10_000;
const dueAfterMs = 3_000;
const duePerSecond = 500;
const dueForMs = 6_000;
/** Until the process has run and compiled what a publish needs: it was filled by batches. */
const warmUpMs = 2_000;

export const timers: Scenario = {
  name: "timers",
  title: "A million pending timers",
  budgetMs: 125_000,
  run: withPosthaste(run),
};

async function run(stage: Stage, system: System, destination: string): Promise<Findings> {
  const emptyMiB = residentMiB(system.pids);

  const { book, perSecond } = await fill(stage, system, {
    destination,
    messages: pendingWanted,
    headers: { "Service-Delay": "30d" },
    due: { kind: "never" },
    withinMs: Math.min(fillMsMax, stage.remainingMs),
  });
  const pending = book.accepted;
  if (pending < pendingWanted) {
    stage.note(`${pending} of ${pendingWanted} timers were pending: there was no time for more`);
  }
  if (book.accepted < book.sent) stage.fault(`${book.sent - book.accepted} timers were refused`);
  if (pending === 0) return { blocks: ["Not measured: nothing was pending."] };
  stage.say(`${pending} pending, published at ${figure(perSecond)}/s`);

  await sleep(calmMs);
  const idlePercent = await idleShare(system);
  const idleMiB = residentMiB(system.pids);
  const lateMs = await lateness(stage, system, destination);
  if (book.arrived > 0) stage.fault(`${book.arrived} of the timers 30 days ahead have arrived`);
  const among = pending >= pendingWanted ? "1 M" : pending.toLocaleString("en-US");
  const p99 = percentile(lateMs, 0.99);
  return {
    blocks: [
      `${pending.toLocaleString("en-US")} messages pending, due in 30 days, published at ${figure(perSecond)} per second. Then ${lateMs.length} more, ${duePerSecond} per second, each due ${dueAfterMs / 1000} s after it was sent; lateness is counted from the send, so it includes the publish.`,
      table(
        ["", "measured"],
        [
          [
            "late p50 / p99 / max, ms",
            [0.5, 0.99, 1].map((of) => figure(percentile(lateMs, of))).join(" / "),
          ],
          ["resident before, MiB", figure(emptyMiB)],
          ["resident with them, MiB", figure(idleMiB)],
          ["resident after the due ones, MiB", figure(residentMiB(system.pids))],
          [`CPU while idle, % of a core over ${idleMs / 1000} s`, figure(idlePercent)],
        ],
      ),
    ],
    goals: [
      atMost(`timers late at p99 with ${among} pending`, p99, 20, " ms"),
      atMost(`resident with ${among} pending`, idleMiB, 250, " MiB"),
      atMost(`CPU while idle with ${among} pending`, idlePercent, 0.5, " % of a core"),
    ],
  };
}

async function idleShare({ pids }: System): Promise<number> {
  const [usedBefore, startedAt] = [cpuMs(pids), performance.now()];
  await sleep(idleMs);
  return ((cpuMs(pids) - usedBefore) / (performance.now() - startedAt)) * 100;
}

async function lateness(stage: Stage, system: System, destination: string): Promise<Float64Array> {
  const due = { kind: "after", ms: dueAfterMs } as const;
  const template = publishTemplate(destination, { "Service-Delay": `${dueAfterMs / 1000}s` });
  const play = async (forMs: number) => {
    const book = stage.books.open((duePerSecond * forMs) / 1000, due);
    const schedule = { perSecond: duePerSecond, forMs, connections: 32 };
    await openLoop({ port: system.port, template }, book, schedule);
    await stage.settle(system.name, book);
    return book.arrivalMs();
  };
  await play(warmUpMs);
  return play(dueForMs);
}
