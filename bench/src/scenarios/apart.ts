/** The six services over Kafka, Redis and a server that speaks MongoDB's protocol, all on the one host, beside the standalone. */
import { openLoop } from "../load/senders.ts";
import { publishTemplate, type Template } from "../load/template.ts";
import { atMost, type Goal } from "../report/goals.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { percentile, pooled, spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { type Apart, startApart, startApartStores } from "../systems/apart.ts";
import { type System, type SystemName } from "../systems/system.ts";
import { measureThroughput } from "./measure.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const delivererCounts = [1, 2, 4] as const;
const connections = 64;
const publishMs = 3_000;
const warmUpMs = 2_000;
const rates = [100, 500] as const;
const rateMs = 3_000;
const callsMax = 0.2;

export const apart: Scenario = {
  name: "apart",
  title: "Six services over Kafka, Redis and MongoDB",
  budgetMs: 170_000,
  run,
};

type Row = {
  readonly name: string;
  readonly delivered: number[];
  readonly cpuUs: number[];
  /** By rate: milliseconds from publish to arrival, a round each. */
  readonly arrival: Map<number, Float64Array[]>;
  readonly calls: { bus: number; store: number; tokens: number; messages: number };
};

type Turn = readonly [SystemName, () => Promise<System | Apart>];

async function run(stage: Stage): Promise<Findings> {
  const stores = await stage.attempt("posthaste apart", startApartStores);
  if (stores === undefined) return { blocks: ["Not measured."] };
  const sink = await stage.sink();
  const template = publishTemplate(`http://127.0.0.1:${sink.port}/x`);
  const rows: Row[] = [];
  const [aloneName, startAlone] = posthaste;
  const turns: readonly Turn[] = [
    [aloneName, () => startAlone({})],
    ...delivererCounts.map((n): Turn => ["posthaste apart", () => startApart(stores, n)]),
  ];
  try {
    for (const [n, [name, start]] of turns.entries()) {
      const system = await stage.attempt(name, start);
      if (system === undefined) continue;
      try {
        rows.push(await measure(stage, system, template, 1 / (turns.length - n)));
      } finally {
        await system.stop();
      }
    }
  } finally {
    await stage.stopAll();
    await stores.stop();
  }
  return { blocks: blocksOf(stores.names, rows), goals: goalsOf(rows) };
}

/** `share`: of the time that is left. */
async function measure(
  stage: Stage,
  system: System | Apart,
  template: Template,
  share: number,
): Promise<Row> {
  const row: Row = {
    name: system.name,
    delivered: [],
    cpuUs: [],
    arrival: new Map(),
    calls: { bus: 0, store: 0, tokens: 0, messages: 0 },
  };
  await measureThroughput(stage, system, { template, connections, forMs: warmUpMs });
  await stage.rounds(async () => {
    const before = "calls" in system ? await system.calls() : undefined;
    const load = { template, connections, forMs: publishMs };
    const result = await measureThroughput(stage, system, load);
    row.delivered.push(result.deliveredPerSecond);
    row.cpuUs.push(result.cpuUsPerMessage);
    if (before && "calls" in system) {
      const after = await system.calls();
      row.calls.bus += after.bus - before.bus;
      row.calls.store += after.store - before.store;
      row.calls.tokens += after.tokens - before.tokens;
      row.calls.messages += result.arrived;
    }
    for (const perSecond of rates) {
      const book = stage.books.open((perSecond * rateMs) / 1000);
      const at = { perSecond, forMs: rateMs, connections: 32 };
      await openLoop({ port: system.port, template }, book, at);
      await stage.settle(system.name, book);
      row.arrival.set(perSecond, [...(row.arrival.get(perSecond) ?? []), book.arrivalMs()]);
    }
  }, share);
  return row;
}

function blocksOf(names: string, rows: readonly Row[]): readonly string[] {
  const figures = rows.map(({ name, delivered, cpuUs, arrival, calls }) => [
    name,
    spread(spreadOf(delivered)),
    spread(spreadOf(cpuUs)),
    ...rates.map((rate) => {
      const all = pooled(arrival.get(rate) ?? []);
      return `${figure(percentile(all, 0.5))} / ${figure(percentile(all, 0.99))}`;
    }),
    ...(calls.messages === 0
      ? ["–", "–", "–"]
      : [calls.bus, calls.store, calls.tokens].map((count) => figure(count / calls.messages))),
  ]);
  const head = [
    "system",
    "delivered/s",
    "CPU µs/message of its processes",
    ...rates.map((rate) => `publish → arrival at ${rate}/s, p50 / p99 ms`),
    "bus calls/message",
    "store calls/message",
    "token calls/message",
  ];
  return [
    `${names}; the stores share the two cores with the services and the load, so more deliverers cannot be faster here: the table shows what the shape costs, not how far it goes. The CPU of the stores is not in it. Throughput from ${connections} connections, each with one request at a time.`,
    table(head, figures),
  ];
}

function goalsOf(rows: readonly Row[]): readonly Goal[] {
  const [one] = rows.filter(({ calls }) => calls.messages > 0);
  if (one === undefined) return [];
  const { bus, messages, store, tokens } = one.calls;
  return [
    atMost("bus calls per message under load, apart", bus / messages, callsMax),
    atMost("store calls per message under load, apart", store / messages, callsMax),
    atMost("token calls per message under load, apart", tokens / messages, callsMax),
  ];
}
