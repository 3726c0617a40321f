import { atLeast, atMost, type Goal } from "../report/goals.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { percentile, pooled, ratioSpread, type Spread, spreadOf } from "../statistics.ts";
import { type Calls } from "../systems/calls.ts";
import { type SystemName } from "../systems/system.ts";

/** `guarded`: each message has a deduplication id, and all share one wide flow key. */
export type Load = "plain" | "guarded";
export const rates = [100, 500] as const;

type Figures = {
  readonly delivered: number[];
  readonly cpuUs: number[];
  readonly storesUs: number[];
  readonly calls: { -readonly [Kind in keyof Calls]: number };
  messages: number;
};

export type Row = {
  readonly name: SystemName;
  readonly under: Readonly<Record<Load, Figures>>;
  /** By rate: milliseconds from publish to arrival, an array for each round. */
  readonly arrival: Map<number, Float64Array[]>;
};

export const newRow = (name: SystemName): Row => ({
  name,
  under: { plain: newFigures(), guarded: newFigures() },
  arrival: new Map(),
});
const newFigures = (): Figures => ({
  ...{ delivered: [], cpuUs: [], storesUs: [], messages: 0 },
  calls: { bus: 0, events: 0, store: 0, tokens: 0 },
});

const relayName: SystemName = "bare relay";
const oneName: SystemName = "posthaste apart, 1 deliverer";
const callsMax = 0.2;
const earlier = ", before";

export function blocksOf(
  names: string,
  connectionsEach: number,
  rows: readonly Row[],
): readonly string[] {
  const isApart = ({ under }: Row) => under.plain.messages > 0;
  const relay = rows.find(({ name }) => name === relayName);
  const head = [
    "system",
    "delivered/s",
    "÷ relay",
    "CPU µs/message, its own",
    "CPU µs/message, stores",
    ...rates.map((rate) => `publish → arrival at ${rate}/s, p50 / p99 ms`),
  ];
  const figures = rows.map(({ name, under: { plain }, arrival }) => [
    name,
    spread(spreadOf(plain.delivered)),
    figure(ratioSpread(plain.delivered, relay?.under.plain.delivered ?? [])?.median),
    spread(spreadOf(plain.cpuUs)),
    usesStores(name) ? spread(spreadOf(plain.storesUs)) : "–",
    ...rates.map((rate) => {
      const all = pooled(arrival.get(rate) ?? []);
      return `${figure(percentile(all, 0.5))} / ${figure(percentile(all, 0.99))}`;
    }),
  ]);
  const guarded = rows
    .filter(({ name }) => usesStores(name))
    .map(({ name, under }) => [
      name,
      spread(spreadOf(under.guarded.delivered)),
      spread(spreadOf(under.guarded.cpuUs)),
      spread(spreadOf(under.guarded.storesUs)),
    ]);
  const calls = rows
    .filter(isApart)
    .flatMap(({ name, under }) =>
      Object.entries(under).map(([load, { calls, messages }]) => [
        `${name}: ${load}`,
        ...[calls.bus, calls.events, calls.store, calls.tokens].map((n) => figure(n / messages)),
      ]),
    );
  return [
    `${names}; the stores share the two cores with the services and the load, so more deliverers are not faster on this host: the table shows the cost of the shape, not its limit. Throughput from ${connectionsEach} connections for each deliverer, each with one request at a time; relay, standalone and the least apart take turns with one deliverer. \"The least apart\" is a minimal program in two processes over the same stores: it inserts, hands over, settles, logs and removes in the same batches, without tenants, retries, renewed leases or restarts. In its guarded variant it claims an id and takes a slot in Redis, many at once, without a line, a rate or a time-out. docs/adr/0055 and 0056 have the effect of each step.`,
    table(head, figures),
    "Guarded: each message has a deduplication id, and all share a flow-control key with a high limit.",
    table(["guarded", "delivered/s", "CPU µs/message, its own", "CPU µs/message, stores"], guarded),
    "Round trips per message under that load, all processes together: requests to Kafka that send or commit, messages of Kafka, calls of MongoDB, and calls of Redis.",
    table(["", "bus", "Kafka messages", "store", "tokens"], calls),
    ...comparison(rows),
  ];
}

export const usesStores = (name: SystemName) => name.includes("apart");

type Pair = { readonly now: Row; readonly before: Row };

const pairsOf = (rows: readonly Row[]): readonly Pair[] =>
  rows.flatMap((now) => {
    const before = rows.find(({ name }) => name === `${now.name}${earlier}`);
    return before ? [{ now, before }] : [];
  });

type Part = (row: Row) => readonly number[];
const ratio = ({ now, before }: Pair, of: Part): Spread | undefined =>
  ratioSpread(of(now), of(before));
const delivered: Part = ({ under }) => under.plain.delivered;
const guardedDelivered: Part = ({ under }) => under.guarded.delivered;
const cpu: Part = ({ under }) => under.plain.cpuUs;
const stores: Part = ({ under }) => under.plain.storesUs;
const at =
  (rate: number, fraction: number): Part =>
  ({ arrival }) =>
    (arrival.get(rate) ?? []).map((one) => percentile(one, fraction));

/** Compares with an earlier commit that alternated with this one, round by round. */
function comparison(rows: readonly Row[]): readonly string[] {
  const pairs = pairsOf(rows);
  if (pairs.length === 0) return [];
  const head = [
    "÷ before",
    "delivered/s",
    "CPU, its own",
    "CPU, stores",
    "guarded delivered/s",
    ...rates.map((rate) => `p50 / p99 at ${rate}/s`),
  ];
  const lines = pairs.map((pair) => [
    pair.now.name,
    spread(ratio(pair, delivered)),
    spread(ratio(pair, cpu)),
    usesStores(pair.now.name) ? spread(ratio(pair, stores)) : "–",
    usesStores(pair.now.name) ? spread(ratio(pair, guardedDelivered)) : "–",
    ...rates.map(
      (rate) =>
        `${figure(ratio(pair, at(rate, 0.5))?.median)} / ${figure(ratio(pair, at(rate, 0.99))?.median)}`,
    ),
  ]);
  return ["In turns with the commit given by `--before`:", table(head, lines)];
}

export function goalsOf(rows: readonly Row[]): readonly Goal[] {
  const one = rows.find(({ name }) => name === oneName);
  const relay = rows.find(({ name }) => name === relayName);
  if (!one) return [];
  const calls = Object.entries(one.under).flatMap(([load, { calls, messages }]) => [
    atMost(`bus calls per message, apart, ${load}`, calls.bus / messages, callsMax),
    atMost(`store calls per message, apart, ${load}`, calls.store / messages, callsMax),
    ...(load === "guarded"
      ? [atMost(`token calls per message, apart, ${load}`, calls.tokens / messages, callsMax)]
      : []),
  ]);
  const { plain } = one.under;
  return [
    atLeast(
      "delivered/s ÷ bare relay, apart",
      ratioSpread(plain.delivered, relay?.under.plain.delivered ?? [])?.median,
      0.2,
    ),
    atMost("Kafka messages per message, apart, plain", plain.calls.events / plain.messages, 0.1),
    ...calls,
  ];
}
