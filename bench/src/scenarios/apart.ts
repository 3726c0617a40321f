/** The six services over Kafka, Redis and a server that speaks MongoDB's protocol, all on the one host, beside the standalone. */
import { openLoop } from "../load/senders.ts";
import { publishTemplate, type Template } from "../load/template.ts";
import { atMost, type Goal } from "../report/goals.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { percentile, pooled, spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { type Calls } from "../systems/calls.ts";
import { type Apart, startApart, startApartStores } from "../systems/apart.ts";
import { type System, type SystemName } from "../systems/system.ts";
import { measureThroughput } from "./measure.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const delivererCounts = [1, 2, 4] as const;
/** As many callers for each deliverer as keep it busy: calls are counted under load. */
const connectionsEach = 256;
const publishMs = 3_000;
const warmUpMs = 2_000;
const rates = [100, 500] as const;
const rateMs = 3_000;
const callsMax = 0.2;

export const apart: Scenario = {
  name: "apart",
  title: "Six services over Kafka, Redis and MongoDB",
  budgetMs: 95_000,
  run,
};

/** `guarded`: each message has an id to deduplicate by, and all have one flow-control key that lets many through. */
const loads = ["plain", "guarded"] as const;
type Load = (typeof loads)[number];
type Counted = { bus: number; store: number; tokens: number; messages: number };

type Row = {
  readonly name: string;
  readonly delivered: number[];
  readonly cpuUs: number[];
  /** By rate: milliseconds from publish to arrival, a round each. */
  readonly arrival: Map<number, Float64Array[]>;
  /** By load. */
  readonly calls: Map<Load, Counted>;
};

type Loads = {
  readonly templates: Readonly<Record<Load, Template>>;
  readonly connections: number;
};

type Turn = {
  readonly name: SystemName;
  readonly deliverers: number;
  readonly start: () => Promise<System | Apart>;
};

async function run(stage: Stage): Promise<Findings> {
  const stores = await stage.attempt("posthaste apart", startApartStores);
  if (stores === undefined) return { blocks: ["Not measured."] };
  const sink = await stage.sink();
  const destination = `http://127.0.0.1:${sink.port}/x`;
  const templates = {
    plain: publishTemplate(destination),
    guarded: publishTemplate(destination, {
      "Service-Content-Based-Deduplication": "true",
      "Service-Flow-Control-Key": "wide",
      "Service-Flow-Control-Value": "parallelism=1000",
    }),
  };
  const rows: Row[] = [];
  const [aloneName, startAlone] = posthaste;
  const turns: readonly Turn[] = [
    { name: aloneName, deliverers: 1, start: () => startAlone({}) },
    ...delivererCounts.map((n): Turn => ({
      name: "posthaste apart",
      deliverers: n,
      start: () => startApart(stores, n),
    })),
  ];
  try {
    for (const [n, { name, deliverers, start }] of turns.entries()) {
      const system = await stage.attempt(name, start);
      if (system === undefined) continue;
      try {
        const load = { templates, connections: deliverers * connectionsEach };
        rows.push(await measure(stage, system, load, 1 / (turns.length - n)));
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
  { templates, connections }: Loads,
  share: number,
): Promise<Row> {
  const row: Row = {
    name: system.name,
    delivered: [],
    cpuUs: [],
    arrival: new Map(),
    calls: new Map(),
  };
  const warmUp = { template: templates.plain, connections, forMs: warmUpMs };
  await measureThroughput(stage, system, warmUp);
  await stage.rounds(async () => {
    for (const load of "calls" in system ? loads : (["plain"] as const)) {
      const before = "calls" in system ? await system.calls() : undefined;
      const publishing = { template: templates[load], connections, forMs: publishMs };
      const result = await measureThroughput(stage, system, publishing);
      if (load === "plain") {
        row.delivered.push(result.deliveredPerSecond);
        row.cpuUs.push(result.cpuUsPerMessage);
      }
      if (before && "calls" in system)
        add(row.calls, load, result.arrived, before, await system.calls());
    }
    for (const perSecond of rates) {
      const book = stage.books.open((perSecond * rateMs) / 1000);
      const at = { perSecond, forMs: rateMs, connections: 32 };
      await openLoop({ port: system.port, template: templates.plain }, book, at);
      await stage.settle(system.name, book);
      row.arrival.set(perSecond, [...(row.arrival.get(perSecond) ?? []), book.arrivalMs()]);
    }
  }, share);
  return row;
}

function add(
  to: Map<Load, Counted>,
  load: Load,
  messages: number,
  before: Calls,
  after: Calls,
): void {
  const sum = to.get(load) ?? { bus: 0, store: 0, tokens: 0, messages: 0 };
  sum.bus += after.bus - before.bus;
  sum.store += after.store - before.store;
  sum.tokens += after.tokens - before.tokens;
  sum.messages += messages;
  to.set(load, sum);
}

function blocksOf(names: string, rows: readonly Row[]): readonly string[] {
  const figures = rows.map(({ name, delivered, cpuUs, arrival }) => [
    name,
    spread(spreadOf(delivered)),
    spread(spreadOf(cpuUs)),
    ...rates.map((rate) => {
      const all = pooled(arrival.get(rate) ?? []);
      return `${figure(percentile(all, 0.5))} / ${figure(percentile(all, 0.99))}`;
    }),
  ]);
  const head = [
    "system",
    "delivered/s",
    "CPU µs/message of its processes",
    ...rates.map((rate) => `publish → arrival at ${rate}/s, p50 / p99 ms`),
  ];
  const calls = rows.flatMap(({ name, calls }) =>
    [...calls].map(([load, { bus, messages, store, tokens }]) => [
      `${name}: ${load}`,
      ...[bus, store, tokens].map((count) => figure(count / messages)),
    ]),
  );
  return [
    `${names}; the stores share the two cores with the services and the load, so more deliverers cannot be faster here: the table shows what the shape costs, not how far it goes. The CPU of the stores is not in it. Throughput from ${connectionsEach} connections for each deliverer, each with one request at a time.`,
    table(head, figures),
    "Round trips per message under that load, all processes together: requests to Kafka that send or commit, to the documents, and to Redis. Guarded: each message has an id to deduplicate by, and all share a flow-control key that lets many through.",
    table(["", "bus", "store", "tokens"], calls),
  ];
}

function goalsOf(rows: readonly Row[]): readonly Goal[] {
  const one = rows.find(({ calls }) => calls.size > 0);
  return [...(one?.calls ?? [])].flatMap(([load, { bus, messages, store, tokens }]) => [
    atMost(`bus calls per message, apart, ${load}`, bus / messages, callsMax),
    atMost(`store calls per message, apart, ${load}`, store / messages, callsMax),
    ...(load === "guarded"
      ? [atMost(`token calls per message, apart, ${load}`, tokens / messages, callsMax)]
      : []),
  ]);
}
