/** Measures another tenant's publishes beside callers that ask for what costs most. */
import { dataFolder } from "../folders.ts";
import { openLoop } from "../load/senders.ts";
import { publishTemplate, secondTenant, token } from "../load/template.ts";
import { atMost } from "../report/goals.ts";
import { figure, table } from "../report/markdown.ts";
import { seedFolder } from "../seeding/seed.ts";
import { percentile } from "../statistics.ts";
import { startPosthaste } from "../systems/posthaste.ts";
import { type System } from "../systems/system.ts";
import { residentMiB } from "../systems/usage.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const perSecond = 50;
const forMs = 4_000;
const connections = 16;
const memoryMs = 50;
const p99GoalMs = 250;
/** The memory limit of a gateway's container in the chart. */
const residentGoalMiB = 512;
const finished = 300_000;
const seedMsMax = 60_000;
const fatRows = 1_001;
const fatHeader = "x".repeat(7_250);
const setUpAtOnce = 16;

export const neighbours: Scenario = {
  name: "neighbours",
  title: "One caller beside another",
  budgetMs: 240_000,
  budgetWithBeforeMs: 480_000,
  isAsked: true,
  run,
};

type Request = { readonly path: string; readonly init?: RequestInit };
type Way = {
  readonly what: string;
  readonly callers: number;
  /** The log has rows of as many finished messages. */
  readonly finished?: number;
  /** Sent once each before the callers begin. */
  readonly before?: { readonly count: number; readonly request: (n: number) => Request };
  readonly request: (n: number) => Request;
};

const post = (path: string, headers: Readonly<Record<string, string>>): Request => ({
  path,
  init: { method: "POST", headers },
});
/** 29 KB together, of which a message takes half and its callback half. */
const fatMessage = {
  "Service-Forward-X-A": fatHeader,
  "Service-Forward-X-B": fatHeader,
  "Service-Callback": "http://127.0.0.1:9",
  "Service-Callback-Forward-X-A": fatHeader,
  "Service-Callback-Forward-X-B": fatHeader,
};
const nowhere = "http://127.0.0.1:9";
const fatSchedules = {
  count: fatRows,
  request: () => post(`/v2/schedules/${nowhere}`, { ...fatMessage, "Service-Cron": "0 0 1 1 *" }),
};

const ways: readonly Way[] = [
  ...[40, 250].map((callers) => ({
    what: "lists of 1,000 schedules with 29 KB of headers each",
    callers,
    before: fatSchedules,
    request: () => ({ path: "/v2/schedules?count=1000" }),
  })),
  {
    what: "pages of 1,000 events of messages with 29 KB of headers",
    callers: 40,
    before: {
      count: fatRows,
      request: () => post(`/v2/publish/${nowhere}`, { ...fatMessage, "Service-Delay": "7d" }),
    },
    request: () => ({ path: "/v2/events?count=1000" }),
  },
  {
    what: "refused schedules, each with a new spelling of one time zone",
    callers: 4,
    request: (n) =>
      post(`/v2/schedules/${nowhere}`, {
        "Service-Cron": `CRON_TZ=${spelling("America/Argentina/ComodRivadavia", n)} 0 25 * * *`,
      }),
  },
  {
    what: "refused schedules, each with a new expression",
    callers: 4,
    request: (n) =>
      post(`/v2/schedules/${nowhere}`, {
        "Service-Cron": `${n % 60} ${Math.floor(n / 60) % 24} ${n % 28} * *`,
        "Service-Retries": "many",
      }),
  },
  {
    what: "lists of the log by a destination that no message has",
    callers: 4,
    finished,
    request: (n) => ({ path: `/v2/events?url=http://nowhere-${n}.example/` }),
  },
];

async function run(stage: Stage): Promise<Findings> {
  const roots = stage.before === undefined ? [undefined] : [stage.before, undefined];
  const rows: string[][] = [];
  const worst = { p99Ms: 0, residentMiB: 0 };
  for (const way of ways) {
    for (const root of roots) {
      stage.say(`${way.what}${root === undefined ? "" : ", before"}`);
      const found = await measure(stage, way, root);
      if (found === undefined) return { blocks: ["Not measured."] };
      rows.push([
        way.what,
        String(way.callers),
        root === undefined ? "now" : "before",
        figure(found.alone),
        found.died ? "it died" : figure(found.beside),
        figure(found.residentMiB),
        figure(found.answered / (forMs / 1_000)),
      ]);
      if (root !== undefined) continue;
      worst.p99Ms = Math.max(worst.p99Ms, found.died ? Number.MAX_VALUE : found.beside);
      worst.residentMiB = Math.max(worst.residentMiB, found.residentMiB);
    }
  }
  return {
    blocks: [
      `${perSecond} publishes a second of another tenant for ${forMs / 1_000} s, alone and beside callers that each ask again as soon as they are answered. Publish → answer.`,
      table(
        ["what they ask for", "callers", "", "p99 ms alone", "beside", "resident MiB", "asked/s"],
        rows,
      ),
    ],
    goals: [
      atMost("p99 of another tenant's publish, the worst of all ways, ms", worst.p99Ms, p99GoalMs),
      atMost("resident MiB, the worst of all ways", worst.residentMiB, residentGoalMiB),
    ],
  };
}

type Found = {
  readonly alone: number;
  readonly beside: number;
  readonly died: boolean;
  readonly residentMiB: number;
  readonly answered: number;
};

async function measure(
  stage: Stage,
  way: Way,
  root: string | undefined,
): Promise<Found | undefined> {
  const folder = dataFolder();
  const { path: dataPath } = folder;
  try {
    if (way.finished !== undefined) {
      const seeding = { what: "finished", dataPath, withinMs: seedMsMax } as const;
      await seedFolder({ ...seeding, count: way.finished });
    }
    const system = await stage.start("posthaste", () =>
      startPosthaste({ dataPath, ...(root === undefined ? {} : { root }) }),
    );
    if (system === undefined) return undefined;
    if (way.before !== undefined) await sendAll(system, way.before);
    const alone = await publishes(stage, system);
    const callers = startCallers(system, way);
    const beside = await publishes(stage, system).catch(() => undefined);
    const { residentMiB, answered } = await callers.stop();
    return {
      alone,
      beside: beside ?? Number.NaN,
      died: beside === undefined,
      residentMiB,
      answered,
    };
  } finally {
    await stage.stopAll();
    folder.remove();
  }
}

async function publishes(stage: Stage, { port, name }: System): Promise<number> {
  const sink = await stage.sink();
  const template = publishTemplate(`http://127.0.0.1:${sink.port}/x`, secondTenant);
  const book = stage.books.open((perSecond * forMs) / 1_000);
  await openLoop({ port, template }, book, { perSecond, forMs, connections });
  await stage.settle(`${name}, another tenant`, book);
  return percentile(book.publishMs(), 0.99);
}

async function sendAll(
  system: System,
  { count, request }: NonNullable<Way["before"]>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const answer = await ask(system, request(next++));
      if (!answer.ok) throw new Error(`setting up was answered ${await answer.text()}`);
    }
  };
  await Promise.all(Array.from({ length: setUpAtOnce }, worker));
}

function startCallers(system: System, { callers, request }: Way) {
  const end = new AbortController();
  let answered = 0;
  let next = 0;
  let residentMax = residentMiB(system.pids);
  const watch = setInterval(() => {
    residentMax = Math.max(residentMax, residentMiB(system.pids));
  }, memoryMs);
  const caller = async () => {
    while (!end.signal.aborted) {
      await ask(system, request(next++), end.signal)
        .then((answer) => answer.arrayBuffer())
        .catch(() => undefined);
      answered++;
    }
  };
  const all = Array.from({ length: callers }, caller);
  return {
    stop: async () => {
      const count = answered;
      end.abort();
      await Promise.all(all);
      clearInterval(watch);
      return { residentMiB: residentMax, answered: count };
    },
  };
}

async function ask(
  { port }: System,
  { path, init }: Request,
  signal?: AbortSignal,
): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, ...init?.headers };
  return fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    headers,
    ...(signal && { signal }),
  });
}

/** Returns one of 2ⁿ spellings of a name with n letters. */
function spelling(name: string, n: number): string {
  let bit = n;
  return [...name]
    .map((letter) => {
      if (!/[a-z]/i.test(letter)) return letter;
      const isUpper = bit % 2 === 1;
      bit = Math.floor(bit / 2);
      return isUpper ? letter.toUpperCase() : letter.toLowerCase();
    })
    .join("");
}
