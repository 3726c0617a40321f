/**
 * Measures the six services over Kafka, Redis and a server that speaks MongoDB's protocol, all on one host, in turns with the
 * bare relay, the least, the standalone and, with `--before <folder>`, an earlier commit of each shape.
 */
import { openLoop } from "../load/senders.ts";
import { publishTemplate, type Template } from "../load/template.ts";
import { posthaste, relay } from "../systems/all.ts";
import { type Apart, type ApartStores, startApart, startApartStores } from "../systems/apart.ts";
import { startLeastApart } from "../systems/least-apart.ts";
import { startPosthaste } from "../systems/posthaste.ts";
import { type System, type SystemName } from "../systems/system.ts";
import { cpuMsBelow } from "../systems/usage.ts";
import {
  blocksOf,
  goalsOf,
  type Load,
  newRow,
  rates,
  type Row,
  usesStores,
} from "./apart-tables.ts";
import { measureThroughput } from "./measure.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const delivererCounts = [1, 2, 4] as const;
/** Enough callers for each deliverer to keep it busy, so that calls are counted under load. */
const connectionsEach = 256;
const publishMs = 3_000;
const warmUpMs = 3_000;
const rateMs = 3_000;

export const apart: Scenario = {
  name: "apart",
  title: "Six services over Kafka, Redis and MongoDB",
  budgetMs: 150_000,
  budgetWithBeforeMs: 540_000,
  run,
};

type Templates = Readonly<Record<Load, Template>>;
type Turn = readonly [SystemName, () => Promise<System | Apart>];
type Measured = { readonly system: System | Apart; readonly row: Row };

async function run(stage: Stage): Promise<Findings> {
  const stores = await stage.attempt("posthaste apart", startApartStores);
  if (stores === undefined) return { blocks: ["Not measured."] };
  const destination = await stage.destination();
  const templates = {
    plain: publishTemplate(destination),
    guarded: publishTemplate(destination, {
      "Service-Content-Based-Deduplication": "true",
      "Service-Flow-Control-Key": "wide",
      "Service-Flow-Control-Value": "parallelism=1000",
    }),
  };
  const rows: Row[] = [];
  try {
    for (const [n, deliverers] of delivererCounts.entries()) {
      const turns = turnsOf(stage, stores, deliverers);
      const load = { templates, connections: deliverers * connectionsEach };
      const share = deliverers === 1 ? 0.5 : 1 / (delivererCounts.length - n);
      rows.push(...(await takeTurns(stage, stores, turns, load, share)));
    }
  } finally {
    await stage.stopAll();
    await stores.stop();
  }
  return {
    blocks: blocksOf(stores.names, connectionsEach, rows),
    goals: goalsOf(rows),
  };
}

function turnsOf(stage: Stage, stores: ApartStores, deliverers: number): readonly Turn[] {
  const { before, profilePath } = stage;
  const profiled = profilePath === undefined ? {} : { profilePath };
  const ours = (root?: string): Turn => [
    "posthaste apart",
    () => startApart(stores, { deliverers, root, ...(root === undefined && profiled) }),
  ];
  const earlier = before === undefined ? [] : [ours(before)];
  if (deliverers > 1) return [ours(), ...earlier];
  const [relayName, startRelay] = relay;
  const [aloneName] = posthaste;
  return [
    [relayName, startRelay],
    [aloneName, () => startPosthaste()],
    ...(before === undefined
      ? []
      : [["posthaste, before", () => startPosthaste({ root: before })] as const]),
    ["the least apart", () => startLeastApart(stores)],
    ours(),
    ...earlier,
  ];
}

type Loads = { readonly templates: Templates; readonly connections: number };

/** Starts the variants with the same number of deliverers side by side. Only one works at a time. */
async function takeTurns(
  stage: Stage,
  { pids: storePids }: ApartStores,
  turns: readonly Turn[],
  load: Loads,
  share: number,
): Promise<readonly Row[]> {
  const all: Measured[] = [];
  try {
    for (const [name, start] of turns) {
      const system = await stage.attempt(name, start);
      if (system === undefined) continue;
      all.push({ system, row: newRow(system.name) });
      const { connections, templates } = load;
      const warmUp = { template: templates.plain, connections, forMs: warmUpMs };
      await measureThroughput(stage, system, warmUp);
    }
    await stage.rounds(async () => {
      for (const each of all) await measure(stage, storePids, each, load);
    }, share);
  } finally {
    for (const { system } of all) await system.stop();
  }
  return all.map(({ row }) => row);
}

async function measure(
  stage: Stage,
  storePids: readonly number[],
  { row, system }: Measured,
  { templates, connections }: Loads,
): Promise<void> {
  const counts = "calls" in system ? system.calls : undefined;
  for (const load of usesStores(row.name)
    ? (["plain", "guarded"] as const)
    : (["plain"] as const)) {
    const before = await counts?.();
    const storesBefore = cpuMsBelow(storePids);
    const publishing = { template: templates[load], connections, forMs: publishMs };
    const result = await measureThroughput(stage, system, publishing);
    const storesMs = cpuMsBelow(storePids) - storesBefore;
    const figures = row.under[load];
    figures.delivered.push(result.deliveredPerSecond);
    figures.cpuUs.push(result.cpuUsPerMessage);
    figures.storesUs.push((storesMs * 1000) / result.arrived);
    stage.say(`${row.name}, ${load}: ${Math.round(result.deliveredPerSecond)}/s`);
    if (!before || !counts) continue;
    const after = await counts();
    for (const kind of ["bus", "events", "store", "tokens"] as const)
      figures.calls[kind] += after[kind] - before[kind];
    figures.messages += result.arrived;
  }
  for (const perSecond of rates) {
    const book = stage.books.open((perSecond * rateMs) / 1000);
    const at = { perSecond, forMs: rateMs, connections: 32 };
    await openLoop({ port: system.port, template: templates.plain }, book, at);
    await stage.settle(system.name, book);
    row.arrival.set(perSecond, [...(row.arrival.get(perSecond) ?? []), book.arrivalMs()]);
  }
}
