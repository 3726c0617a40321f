/**
 * Measures what a plain message writes into MongoDB, and the cost: each write by its purpose, from the oplog of a set of one,
 * with the storage engine's operations and the journal; on the same cores, and with the server on a core of its own.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { type Document, MongoClient, type Timestamp } from "mongodb";
import { bodyBytes, publishTemplate } from "../load/template.ts";
import { figure, table } from "../report/markdown.ts";
import { type Apart, type ApartStores, startApart, startApartStores } from "../systems/apart.ts";
import { cpuMs } from "../systems/usage.ts";
import { measureThroughput } from "./measure.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const connections = 256;
const warmUpMs = 3_000;
const forMs = 4_000;
/** A finished message is swept within a minute. */
const sweptMsMax = 120_000;
const pollMs = 1_000;
const idleMs = 10_000;
const messagesADay = 100 * 86_400;
const bytesOfGb = 1e9;

export const documentWrites: Scenario = {
  name: "document-writes",
  title: "Writes of a plain message in MongoDB",
  budgetMs: 300_000,
  isAsked: true,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const stores = await stage.attempt("posthaste apart", startApartStores);
  if (stores === undefined) return { blocks: ["Not measured."] };
  const client = new MongoClient(stores.stores.mongodb?.uri ?? "");
  try {
    return await measure(stage, stores, client);
  } finally {
    await client.close();
    await stage.stopAll();
    await stores.stop();
  }
}

async function measure(stage: Stage, stores: ApartStores, client: MongoClient): Promise<Findings> {
  const pids = stores.pids.filter((pid) => commandOf(pid) === "mongod");
  const system = await stage.attempt("posthaste apart", () =>
    startApart(stores, { deliverers: 1 }),
  );
  if (system === undefined) return { blocks: ["Not measured."] };
  try {
    const together = await load(stage, client, pids, system);
    const cores = availableParallelism();
    const others = [
      ...stores.pids.filter((pid) => !pids.includes(pid)),
      ...system.pids,
      process.pid,
    ];
    if (cores > 1) {
      pin(pids, `${cores - 1}`);
      pin(others, cores === 2 ? "0" : `0-${cores - 2}`);
    }
    const pinned = await load(stage, client, pids, system);
    return { blocks: blocksOf(stores.names, together, pinned) };
  } finally {
    await system.stop();
  }
}

type Loaded = {
  readonly arrived: number;
  readonly deliveredPerSecond: number;
  readonly cpuUs: number;
  readonly writes: ReadonlyMap<string, Written>;
  /** By the names below, over all messages. */
  readonly counted: ReadonlyMap<string, number>;
};
type Written = { count: number; bytes: number };

async function load(
  stage: Stage,
  client: MongoClient,
  pids: readonly number[],
  system: Apart,
): Promise<Loaded> {
  const template = publishTemplate(await stage.destination());
  await measureThroughput(stage, system, { template, connections, forMs: warmUpMs });
  await swept(client);
  const idleBefore = cpuMs(pids);
  await delay(idleMs);
  const idlePart = (cpuMs(pids) - idleBefore) / idleMs;
  const from = await lastOf(client);
  const [startedAt, usedBefore, before] = [performance.now(), cpuMs(pids), await countsOf(client)];
  const { arrived, deliveredPerSecond } = await measureThroughput(stage, system, {
    ...{ template, connections, forMs },
  });
  await swept(client);
  const usedMs = cpuMs(pids) - usedBefore - idlePart * (performance.now() - startedAt);
  const after = await countsOf(client);
  const counted = new Map(
    [...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)]),
  );
  const writes = await writesSince(client, from);
  return { arrived, deliveredPerSecond, cpuUs: (usedMs * 1000) / arrived, writes, counted };
}

const oplogOf = (client: MongoClient) => client.db("local").collection("oplog.rs");

async function lastOf(client: MongoClient): Promise<Timestamp> {
  const last = await oplogOf(client).findOne({}, { sort: { $natural: -1 } });
  return (last as unknown as { readonly ts: Timestamp }).ts;
}

/** A record has one of these until its removal; a row of the log has none. */
const timesOfRecords = [
  "wakeAt",
  "followUpAt",
  "factAt",
  "sweepAt",
  "owedSweepAt",
  "canceledSweepAt",
  "toldSweepAt",
] as const;

async function swept(client: MongoClient): Promise<void> {
  const until = performance.now() + sweptMsMax;
  while (performance.now() < until) {
    const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
    const made = databases.filter(({ name }) => name.startsWith("bench-"));
    const left = await Promise.all(
      made.flatMap(({ name }) =>
        timesOfRecords.map((field) =>
          client
            .db(name)
            .collection("messages")
            .findOne(
              { shard: { $gte: 0 }, [field]: { $exists: true } },
              { projection: { _id: 1 } },
            ),
        ),
      ),
    );
    if (left.every((found) => found === null)) return;
    await delay(pollMs);
  }
  throw new Error(`finished messages were not swept within ${sweptMsMax} ms`);
}

/** Returns the writes by purpose. Entries of one purpose have the same collection, kind and fields. */
async function writesSince(client: MongoClient, from: Timestamp): Promise<Map<string, Written>> {
  const writes = new Map<string, Written>();
  const entries = oplogOf(client).aggregate([
    { $match: { ts: { $gt: from }, op: { $in: ["i", "u", "d"] } } },
    { $project: { ns: 1, op: 1, diff: "$o.diff", bytes: { $bsonSize: "$$ROOT" } } },
  ]);
  for await (const entry of entries) {
    const [, collection = ""] = /^[^.]+\.(.*)$/.exec(String(entry["ns"])) ?? [];
    const purpose = `${collection}: ${purposeOf(entry)}`;
    const written = writes.get(purpose) ?? { count: 0, bytes: 0 };
    written.count += 1;
    written.bytes += Number(entry["bytes"]);
    writes.set(purpose, written);
  }
  return writes;
}

function purposeOf({ op, diff }: Document): string {
  if (op === "i") return "insert";
  if (op === "d") return "remove";
  const { u = {}, i = {}, d = {} } = (diff ?? {}) as Record<string, object>;
  const set = Object.keys({ ...u, ...i }).toSorted();
  const unset = Object.keys(d).toSorted();
  return ["change", ...set, ...unset.map((name) => `−${name}`)].join(" ");
}

/** The paths in `serverStatus` of the counters of the storage engine and the journal. */
const counters = {
  "inserts in b-trees": ["wiredTiger", "cursor", "cursor insert calls"],
  "changes in b-trees": ["wiredTiger", "cursor", "cursor modify calls"],
  "updates in b-trees": ["wiredTiger", "cursor", "cursor update calls"],
  "removals in b-trees": ["wiredTiger", "cursor", "cursor remove calls"],
  "journal bytes": ["wiredTiger", "log", "log bytes written"],
} as const;

async function countsOf(client: MongoClient): Promise<ReadonlyMap<string, number>> {
  const status = await client.db("admin").command({ serverStatus: 1 });
  return new Map(
    Object.entries(counters).map(([name, path]) => {
      const found = path.reduce<unknown>((from, key) => (from as Document)[key], status);
      return [name, Number(found)];
    }),
  );
}

const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/comm`, "utf8").trim();

/** Keeps all threads of these processes on these cores. */
function pin(pids: readonly number[], cores: string): void {
  for (const pid of pids) execFileSync("taskset", ["-apc", cores, String(pid)]);
}

function blocksOf(names: string, together: Loaded, pinned: Loaded): readonly string[] {
  const { arrived, writes, counted } = together;
  const each = [...writes].filter(([, { count }]) => count > arrived / 100);
  const sum = each.reduce((all, [, { bytes }]) => all + bytes, 0);
  const row = ([purpose, { count, bytes }]: readonly [string, Written]) => [
    `\`${purpose}\``,
    figure(count / arrived),
    figure(bytes / arrived),
  ];
  const ways = [
    ["the same cores", together],
    ["a core of its own", pinned],
  ] as const;
  return [
    `One deliverer, ${connections} connections, over ${names}. Figures are for a plain message of ${bodyBytes} bytes, from its publish until it has been swept; an entry of the oplog is a write. The CPU of an idle server is subtracted.`,
    table(["write", "a message", "bytes of oplog"], each.map(row)),
    table(
      ["the storage engine", "a message"],
      [...counted].map(([name, count]) => [name, figure(count / arrived)]),
    ),
    `At 100 messages a second that is ${figure(((sum / arrived) * messagesADay) / bytesOfGb)} GB of oplog a day.`,
    table(
      [
        "mongod runs on",
        "delivered/s",
        "its CPU µs a message",
        "messages/s that fill one of its cores",
      ],
      ways.map(([way, { deliveredPerSecond, cpuUs }]) => [
        way,
        ...[deliveredPerSecond, cpuUs, 1e6 / cpuUs].map(figure),
      ]),
    ),
  ];
}
