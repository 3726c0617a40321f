/** Measures a message at a steady rate: the time to its answer, and to its arrival. */
import { atMost, type Goal } from "../report/goals.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { syncedWrites } from "../load/disk.ts";
import { openLoop } from "../load/senders.ts";
import { publishTemplate } from "../load/template.ts";
import { percentile, pooled, ratioSpread, spreadOf } from "../statistics.ts";
import { allSystems, least } from "../systems/all.ts";
import { type System } from "../systems/system.ts";
import { measureThroughput } from "./measure.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

/** `share` is a share of the remaining time. The rate with a goal gets most: one stall of the host is a round's p99. */
const rates = [
  { perSecond: 100, forMs: 2_000, share: 0.25 },
  { perSecond: 500, forMs: 3_000, share: 0.75 },
  { perSecond: 1_000, forMs: 2_000, share: 1 },
] as const;
const goalPerSecond = 500;
const connections = 32;
/** Until the compiler has settled. */
const warmUpMs = 4_000;

export const latency: Scenario = {
  name: "latency",
  title: "Latency at a steady rate",
  budgetMs: 200_000,
  run,
};

type Samples = { readonly publish: Float64Array[]; readonly arrival: Float64Array[] };

async function run(stage: Stage): Promise<Findings> {
  const template = publishTemplate(await stage.destination());
  const systems = await stage.startAll([...allSystems, least]);
  for (const system of systems) {
    await measureThroughput(stage, system, { template, connections: 64, forMs: warmUpMs });
  }

  const blocks: string[] = [];
  const goals: Goal[] = [];
  const lags: Float64Array[] = [];
  for (const { perSecond, forMs, share } of rates) {
    const samples = new Map<System, Samples>(
      systems.map((system) => [system, { publish: [], arrival: [] }]),
    );
    const disk: Float64Array[] = [];
    const rounds = await stage.rounds(async () => {
      for (const [{ name, port }, { publish, arrival }] of samples) {
        const book = stage.books.open((perSecond * forMs) / 1000);
        lags.push(await openLoop({ port, template }, book, { perSecond, forMs, connections }));
        await stage.settle(name, book);
        publish.push(book.publishMs());
        arrival.push(book.arrivalMs());
      }
      disk.push(await syncedWrites({ perSecond, forMs }));
    }, share);
    stage.say(`${perSecond}/s: ${rounds} rounds`);
    blocks.push(`**${perSecond} per second**, ${rounds} rounds`, resultTable(samples, disk));
    if (perSecond === goalPerSecond) {
      const p99 = p99Against(samples);
      goals.push(atMost(`p99 of publish → arrival at ${perSecond}/s ÷ bare relay`, p99, 2));
    }
  }
  const lag = pooled(lags);
  blocks.push(
    `Milliseconds from when the request was meant to be sent. p50 and p99.9 are of all rounds together; p99 is the median of the rounds, with their lowest and highest in brackets. Posthaste answers when its write is synced; the row of the disk alone is the least time of that at this rate. The load generator itself was late by ${figure(percentile(lag, 0.5))} (p50) and ${figure(percentile(lag, 0.99))} ms (p99); every figure includes that.`,
  );
  return { blocks, goals };
}

function resultTable(samples: ReadonlyMap<System, Samples>, disk: readonly Float64Array[]): string {
  const [relay] = samples.values();
  const rows = [...samples].flatMap(([{ name }, { publish, arrival }]) => [
    row(`${name}, publish → answer`, publish, relay?.publish ?? []),
    row(`${name}, publish → arrival`, arrival, relay?.arrival ?? []),
  ]);
  rows.push(row("the disk alone, a synced write of 4 KiB", disk, relay?.arrival ?? []));
  return table(["", "p50 ms", "p99 ms", "p99.9 ms", "p99 ÷ relay"], rows);
}

function row(
  what: string,
  rounds: readonly Float64Array[],
  relay: readonly Float64Array[],
): readonly string[] {
  const all = pooled(rounds);
  return [
    what,
    figure(percentile(all, 0.5)),
    spread(spreadOf(p99s(rounds))),
    figure(percentile(all, 0.999)),
    spread(ratioSpread(p99s(rounds), p99s(relay))),
  ];
}

function p99Against(samples: ReadonlyMap<System, Samples>): number | undefined {
  const of = (name: System["name"]) =>
    [...samples].find(([system]) => system.name === name)?.[1].arrival ?? [];
  return ratioSpread(p99s(of("posthaste")), p99s(of("bare relay")))?.median;
}

const p99s = (rounds: readonly Float64Array[]) => rounds.map((one) => percentile(one, 0.99));
