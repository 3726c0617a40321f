/**
 * Measures ten thousand schedules on one minute: how fast they are made, how fast their slot fires, and the cost of finding
 * the next slot.
 */
import { isFault, nextSlot, parseCron } from "@posthaste/domain";
import { setTimeout as sleep } from "node:timers/promises";
import { closedLoop, openLoop } from "../load/senders.ts";
import { publishTemplate, scheduleTemplate } from "../load/template.ts";
import { atLeast, atMost } from "../report/goals.ts";
import { figure, table } from "../report/markdown.ts";
import { percentile } from "../statistics.ts";
import { type System } from "../systems/system.ts";
import { type Findings, type Scenario, withPosthaste } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const schedulesWanted = 10_000;
const makeMsMax = 30_000;
const connections = 64;
const minuteMs = 60_000;
/** The part of a minute kept for making them. */
const spareMs = 20_000;
const beside = { perSecond: 200, forMs: 8_000, connections: 16 } as const;
const aheadMs = 2_000;
const drainMsMax = 30_000;
const slotRounds = 2_000;

export const schedules: Scenario = {
  name: "schedules",
  title: "10,000 schedules at one minute",
  budgetMs: 110_000,
  run: withPosthaste(run),
};

async function run(stage: Stage, system: System, destination: string): Promise<Findings> {
  if (nextMinute() - Date.now() < spareMs) await sleep(nextMinute() - Date.now() + 1_000);
  const dueAtMs = nextMinute();
  // A fixed minute of the hour, so that no second slot comes during the run.
  const cron = `${new Date(dueAtMs).getUTCMinutes()} * * * *`;
  const book = stage.books.open(schedulesWanted, { kind: "at", unixMs: dueAtMs });
  const template = scheduleTemplate(destination, { "Service-Cron": cron });
  const begunAt = performance.now();
  await closedLoop({ port: system.port, template }, book, { connections, forMs: makeMsMax });
  const madePerSecond = (book.accepted * 1000) / (performance.now() - begunAt);
  await sleep(Math.max(0, dueAtMs - aheadMs - Date.now()));

  const live = stage.books.open((beside.perSecond * beside.forMs) / 1000);
  await openLoop({ port: system.port, template: publishTemplate(destination) }, live, beside);
  await stage.settle(`${system.name}, the slots`, book, drainMsMax);
  await stage.settle(`${system.name}, the others`, live, drainMsMax);
  const firedMs = book.lastArrivedAt - dueAtMs;
  const besideP99 = percentile(live.publishMs(), 0.99);
  const slots = {
    utc: slotMicros("*/7 3 * * *"),
    zone: slotMicros("CRON_TZ=Europe/Berlin */7 3 * * *"),
  };
  return {
    blocks: [
      `${book.accepted.toLocaleString("en-US")} schedules with the same minute, whose messages were all delivered ${figure(firedMs / 1000)} s after it, during publishes at ${beside.perSecond}/s.`,
      table(
        [
          "made/s",
          "last arrival, ms",
          "publish p99 meanwhile, ms",
          "next slot p99, µs",
          "with a zone, µs",
        ],
        [[madePerSecond, firedMs, besideP99, slots.utc, slots.zone].map(figure)],
      ),
    ],
    goals: [
      atLeast("schedules made/s", madePerSecond, 2_000),
      atMost("10,000 slots of one minute delivered", firedMs, 4_000, " ms"),
      atMost("p99 of a publish during the slots", besideP99, 60, " ms"),
      atMost("next slot, UTC, p99", slots.utc, 10, " µs"),
      atMost("next slot, with a zone, p99", slots.zone, 50, " µs"),
    ],
  };
}

const nextMinute = (): number => (Math.floor(Date.now() / minuteMs) + 1) * minuteMs;

/** Returns the microseconds that a scheduler takes to compute the next slot. */
function slotMicros(text: string): number {
  const cron = parseCron(text);
  if (isFault(cron)) throw new Error(cron.text);
  const micros = new Float64Array(slotRounds);
  let at = Date.now();
  for (let round = -slotRounds; round < slotRounds; round++) {
    const startedAt = performance.now();
    at = nextSlot(cron, at) ?? at;
    if (round >= 0) micros[round] = (performance.now() - startedAt) * 1_000;
  }
  return percentile(micros.sort(), 0.99);
}
