import { setTimeout as sleep } from "node:timers/promises";
import { openLoop } from "../load/senders.ts";
import { publishTemplate } from "../load/template.ts";
import { figure, table } from "../report/markdown.ts";
import { percentile } from "../statistics.ts";
import { fill } from "./fill.ts";
import { type System } from "../systems/system.ts";
import { type Findings, type Scenario, withPosthaste } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const timersWanted = 100_000;
const warmUp = 5_000;
const spareMs = 3_000;
const publishPerSecond = 200;
const publishForMs = 8_000;
const publishAheadMs = 2_000;
const dueInMsMax = 40_000;

export const burst: Scenario = {
  name: "burst",
  title: "100,000 timers due in one second",
  budgetMs: 62_000,
  run: withPosthaste(run),
};

async function run(stage: Stage, system: System, destination: string): Promise<Findings> {
  const trial = await fill(stage, system, {
    destination,
    messages: warmUp,
    headers: {},
    due: { kind: "at once" },
    withinMs: 10_000,
  });
  await stage.settle(system.name, trial.book);

  // -Not-Before counts in whole seconds, so all are due at the same instant: harder than within one second.
  const expectedMs = Math.min((timersWanted / trial.perSecond) * 1_300, dueInMsMax) + spareMs;
  const dueAtSecond = Math.ceil((Date.now() + expectedMs) / 1000);
  const dueAtMs = dueAtSecond * 1000;
  const { book } = await fill(stage, system, {
    destination,
    messages: timersWanted,
    headers: { "Service-Not-Before": String(dueAtSecond) },
    due: { kind: "at", unixMs: dueAtMs },
    withinMs: dueAtMs - publishAheadMs - Date.now(),
  });
  if (book.accepted === 0) return { blocks: ["Not measured: nothing was pending."] };
  if (book.sent < timersWanted) stage.note(`${book.sent} of ${timersWanted} timers fitted in`);
  await sleep(Math.max(0, dueAtMs - publishAheadMs - Date.now()));

  const live = stage.books.open((publishPerSecond * publishForMs) / 1000);
  await openLoop({ port: system.port, template: publishTemplate(destination) }, live, {
    perSecond: publishPerSecond,
    forMs: publishForMs,
    connections: 64,
  });
  const { arrived } = await stage.settle(`${system.name}, the timers`, book, stage.remainingMs);
  await stage.settle(`${system.name}, the others`, live);

  const row = (what: string, samples: Float64Array) => [
    what,
    ...[0.5, 0.99, 1].map((fraction) => figure(percentile(samples, fraction))),
  ];
  const drainMs = book.lastArrivedAt - dueAtMs;
  return {
    blocks: [
      `${arrived.toLocaleString("en-US")} messages due at the same instant were all delivered ${figure(drainMs / 1000)} s later: ${figure((arrived * 1000) / drainMs)} per second. Meanwhile ${publishPerSecond} other messages per second were published to the same destination, beginning ${publishAheadMs / 1000} s earlier.`,
      table(
        ["ms", "p50", "p99", "max"],
        [
          row("timers: late", book.arrivalMs()),
          row("the others: publish → answer", live.publishMs()),
          row("the others: publish → arrival", live.arrivalMs()),
        ],
      ),
    ],
  };
}
