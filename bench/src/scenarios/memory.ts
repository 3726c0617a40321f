/** Measures the resident memory of the standalone, with its defaults, at the bounds of what tenants and destinations may do. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { dataFolder } from "../folders.ts";
import { type PublishHeaders, secondTenant, token } from "../load/template.ts";
import { atMost } from "../report/goals.ts";
import { figure, table } from "../report/markdown.ts";
import { type PosthasteOptions, startPosthaste } from "../systems/posthaste.ts";
import { type System } from "../systems/system.ts";
import { residentMiB } from "../systems/usage.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const mebibyte = 1024 * 1024;
const large = Buffer.alloc(10 * mebibyte, "a");
const largeMessages = 200;
const hangingCalls = 10_000;
/** A tenant may have three quarters of all waiting calls, and about half of them at one address. So two tenants call many addresses. */
const addressesOfSilent = 40;
const kibPerCallMax = 64;
/** More than the default, since other tenants keep their share. A host that allows 20,000 open files has room for them. */
const mayHang = { POSTHASTE_MAX_WAITING: String(2 * hangingCalls) };
const firstTenant: PublishHeaders = { Authorization: `Bearer ${token}` };
const manyNames = 10_000;
/** Above the idle process. */
const largeMiBMax = 512;
const patienceMs = 600_000;

export const memory: Scenario = {
  name: "memory",
  title: "Memory at the bounds",
  budgetMs: 120_000,
  run: async (stage) => {
    const measured = [...(await withLarge(stage)), ...(await withMany(stage))];
    return { blocks: blocksOf(measured), goals: measured.flatMap(goalsOf) };
  },
};

type Measured = {
  readonly what: string;
  readonly grownMiB: number;
  readonly seconds: number;
  readonly goalMiB?: number;
};

const blocksOf = (measured: readonly Measured[]): Findings["blocks"] => [
  "Standalone with default settings, except twice as many calls at once as hang here. Each figure is the highest resident memory above that of an idle process, sampled ten times a second.",
  table(
    ["", "MiB more", "s"],
    measured.map(({ what, grownMiB, seconds }) => [what, figure(grownMiB), figure(seconds)]),
  ),
];

const goalsOf = ({ what, grownMiB, goalMiB }: Measured) =>
  goalMiB === undefined ? [] : [atMost(`MiB more: ${what}`, grownMiB, goalMiB)];

async function withLarge(stage: Stage): Promise<readonly Measured[]> {
  const data = dataFolder();
  const held: (() => void)[] = [];
  let isSilent = true;
  const silent = await destination((req, res) => {
    req.resume();
    if (isSilent) held.push(() => res.end());
    else req.on("end", () => res.end());
  });
  const failing = await destination((req, res) => {
    req.resume().on("end", () => void res.writeHead(500).end(large));
  });
  const start = () => stage.start("posthaste", () => startPosthaste({ dataPath: data.path }));
  const all: Measured[] = [];
  const measure = async (system: System, what: string, work: () => Promise<unknown>) =>
    void all.push({ ...(await watched(stage, system, idle, what, work)), goalMiB: largeMiBMax });
  const due = `${largeMessages} due messages of 10 MiB`;
  let idle = 0;
  try {
    const first = await start();
    if (first === undefined) return all;
    idle = residentMiB(first.pids);
    await measure(first, `${due}, while they are published`, () =>
      publishAll(first, silent.url, {}, large),
    );
    await stage.stopAll();
    const second = await start();
    if (second === undefined) return all;
    await measure(second, `${due}, after a restart and during delivery`, async () => {
      isSilent = false;
      for (const answer of held.splice(0)) answer();
      await until(() => silent.ended() >= largeMessages);
    });
    const callbacks = silent.ended() + largeMessages;
    await measure(second, `${largeMessages} answers of 10 MiB, with callbacks`, async () => {
      const headers = { "Service-Callback": `${silent.url}callback` };
      await publishAll(second, failing.url, headers, Buffer.from("{}"));
      await until(() => silent.ended() >= callbacks);
    });
    const failed = failing.ended() + largeMessages;
    await publishAll(second, failing.url, {}, large);
    await until(() => failing.ended() >= failed);
    for (const path of ["/v2/dlq?count=100", "/v2/events?count=1000"])
      await measure(second, `\`${path}\`, four at once`, () =>
        Promise.all(Array.from({ length: 4 }, () => get(second, path))),
      );
    return all;
  } finally {
    for (const { close } of [silent, failing]) close();
    await stage.stopAll();
    data.remove();
  }
}

async function withMany(stage: Stage): Promise<readonly Measured[]> {
  const silent = await destination((req) => void req.resume());
  const prompt = await destination((req, res) => void req.resume().on("end", () => res.end()));
  const all: Measured[] = [];
  const measure = async (
    what: string,
    count: number,
    itemOf: (n: number) => Item,
    {
      env,
      tenants = [firstTenant],
      ...goal
    }: Pick<Measured, "goalMiB"> &
      Pick<PosthasteOptions, "env"> & { readonly tenants?: readonly PublishHeaders[] } = {},
  ) => {
    const system = await stage.start("posthaste", () => startPosthaste(env ? { env } : {}));
    if (system === undefined) return;
    const before = silent.begun() + prompt.begun();
    const grown = await watched(
      stage,
      system,
      residentMiB(system.pids),
      `${figure(count)} ${what}`,
      async () => {
        for (const tenant of tenants)
          await publishInBatches(system, count / tenants.length, itemOf, tenant);
        await until(() => silent.begun() + prompt.begun() >= before + count);
      },
    );
    all.push({ ...grown, ...goal });
    await stage.stopAll();
  };
  const onName = (n: number, port: number) => `http://name-${n}.localhost:${port}/`;
  try {
    const hung = (n: number) => ({
      destination: `http://127.0.0.${1 + (n % addressesOfSilent)}:${silent.port}/`,
      headers: { "Service-Timeout": "2h" },
    });
    const goalMiB = (hangingCalls * kibPerCallMax) / 1_024;
    const tenants = [firstTenant, secondTenant];
    await measure("hanging calls", hangingCalls, hung, { goalMiB, env: mayHang, tenants });
    await measure("origins", manyNames, (n) => ({ destination: onName(n, prompt.port) }));
    await measure("flow keys", manyNames, (n) => ({
      destination: prompt.url,
      headers: {
        "Service-Flow-Control-Key": `key-${n}`,
        "Service-Flow-Control-Value": "rate=1, period=1h",
      },
    }));
    await measure("deduplication ids", manyNames, (n) => ({
      destination: prompt.url,
      headers: { "Service-Deduplication-Id": `id-${n}` },
    }));
    return all;
  } finally {
    for (const { close } of [silent, prompt]) close();
  }
}

const lookEveryMs = 100;

async function watched(
  stage: Stage,
  { pids }: System,
  idleMiB: number,
  what: string,
  work: () => Promise<unknown>,
): Promise<Measured> {
  let most = residentMiB(pids);
  const timer = setInterval(() => (most = Math.max(most, residentMiB(pids))), lookEveryMs);
  const begunAt = performance.now();
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  const seconds = (performance.now() - begunAt) / 1_000;
  stage.say(`${what}: ${figure(most - idleMiB)} MiB more, ${figure(seconds)} s`);
  return { what, grownMiB: most - idleMiB, seconds };
}

type Destination = {
  readonly port: number;
  readonly url: string;
  /** The numbers of requests received and answered. */
  readonly begun: () => number;
  readonly ended: () => number;
  readonly close: () => void;
};

async function destination(listener: RequestListener): Promise<Destination> {
  let begun = 0;
  let ended = 0;
  const server = createServer((req, res) => {
    begun++;
    // A caller may break off an answer that is too long.
    res.once("close", () => void (ended += Number(res.writableEnded)));
    listener(req, res);
  });
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  const url = `http://127.0.0.1:${address.port}/`;
  return { port: address.port, url, begun: () => begun, ended: () => ended, close };
}

const authorization = { Authorization: `Bearer ${token}`, "Service-Retries": "0" };
const at = ({ port }: System, path: string): string => `http://127.0.0.1:${port}${path}`;

async function asked(system: System, path: string, init: RequestInit): Promise<Response> {
  for (let left = patienceMs; left > 0; left -= 1_000) {
    const response = await fetch(at(system, path), init);
    // Repeats the request after a refusal for lack of memory, as clients do.
    if (response.status !== 503 && response.status !== 429) return response;
    await response.arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  throw new Error(`${path}: refused all the time`);
}

async function publishAll(
  system: System,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer<ArrayBuffer>,
): Promise<void> {
  for (let n = 0; n < largeMessages; n++) {
    const init = { method: "POST", headers: { ...authorization, ...headers }, body };
    const response = await asked(system, `/v2/publish/${url}`, init);
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }
}

const itemsPerBatch = 1_000;
type Item = { readonly destination: string; readonly headers?: object };

async function publishInBatches(
  system: System,
  count: number,
  itemOf: (n: number) => Item,
  tenant: PublishHeaders,
): Promise<void> {
  for (let from = 0; from < count; from += itemsPerBatch) {
    const items = Array.from({ length: Math.min(itemsPerBatch, count - from) }, (_, i) =>
      itemOf(from + i),
    );
    const headers = { ...authorization, ...tenant, "Content-Type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(items) };
    const response = await asked(system, "/v2/batch", init);
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }
}

async function get(system: System, path: string): Promise<void> {
  const response = await asked(system, path, { headers: authorization });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  await response.body?.pipeTo(new WritableStream());
}

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > end)
      throw new Error("the expected state was not reached within ten minutes");
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}
