import { setTimeout as sleep } from "node:timers/promises";
import { dataFolder } from "../folders.ts";
import { closedLoop } from "../load/senders.ts";
import { scheduleTemplate, token } from "../load/template.ts";
import { atLeast, atMost } from "../report/goals.ts";
import { figure, table } from "../report/markdown.ts";
import { percentile } from "../statistics.ts";
import { startPosthaste } from "../systems/posthaste.ts";
import { type System } from "../systems/system.ts";
import { cpuMs, residentMiB } from "../systems/usage.ts";
import { fill } from "./fill.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const crowd = 1_000_000;
const rare = 100;
const fillMsMax = 300_000;
const looks = 200;
const warmUps = 50;
const schedulesWanted = 100_000;
const calmMs = 5_000;
const idleMs = 10_000;

export const crowds: Scenario = {
  name: "crowds",
  title: "A million in a queue, and a hundred thousand schedules",
  budgetMs: 600_000,
  isAsked: true,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const data = dataFolder();
  try {
    return await measure(stage, () =>
      stage.start("posthaste", () => startPosthaste({ dataPath: data.path })),
    );
  } finally {
    await stage.stopAll();
    data.remove();
  }
}

async function measure(stage: Stage, start: () => Promise<System | undefined>): Promise<Findings> {
  const empty = await start();
  if (empty === undefined) return { blocks: ["Not measured."] };
  const destination = await stage.destination();
  await sleep(calmMs);
  const emptyMiB = residentMiB(empty.pids);
  const made = await makeSchedules(stage, empty, destination);
  await stage.stopAll();
  const system = await start();
  if (system === undefined) return { blocks: ["Not measured."] };
  const schedules = { ...made, ...(await pending(system, emptyMiB)) };
  await ask(system, "POST", "/v2/queues", { queueName: "deep", paused: true });
  const put = (messages: number, headers: Readonly<Record<string, string>>) =>
    fill(stage, system, {
      ...{ destination, messages, headers: { "Service-Queue-Name": "deep", ...headers } },
      ...{ due: { kind: "never" }, withinMs: fillMsMax },
    });
  const { book } = await put(crowd, {});
  await put(rare, { "Service-Label": "rare" });
  const lagP99 = await timed(system, "/v2/queues/deep");
  const labelP99 = await timed(system, "/v2/logs?label=rare&count=100");
  const among = book.accepted.toLocaleString("en-US");
  return {
    blocks: [
      `${schedules.made.toLocaleString("en-US")} yearly schedules, measured after a restart; then ${among} messages in a paused queue and ${rare} more with a label. The queue is read ${looks} times, and the label is listed as often, each after ${warmUps} uncounted reads.`,
      table(
        ["", "measured"],
        [
          ["schedules made/s", figure(schedules.perSecond)],
          [
            "resident, without that of no schedules, after a restart, MiB",
            figure(schedules.residentMiB),
          ],
          [`CPU while idle, % of a core over ${idleMs / 1000} s`, figure(schedules.idlePercent)],
          ["lag of the queue p99, ms", figure(lagP99)],
          ["list of the rare label p99, ms", figure(labelP99)],
        ],
      ),
    ],
    goals: [
      atLeast("schedules made/s, up to 100,000", schedules.perSecond, 2_000),
      atMost("resident of 100,000 schedules", schedules.residentMiB, 40, " MiB"),
      atMost("CPU while idle with them", schedules.idlePercent, 0.5, " % of a core"),
      atMost(`p99 of the lag of ${among}`, lagP99, 5, " ms"),
      atMost(`p99 of a list by a label that ${rare} of them have`, labelP99, 30, " ms"),
    ],
  };
}

async function makeSchedules(stage: Stage, { port }: System, destination: string) {
  const book = stage.books.open(schedulesWanted, { kind: "never" });
  const template = scheduleTemplate(destination, { "Service-Cron": "0 0 1 1 *" });
  const startedAt = performance.now();
  await closedLoop({ port, template }, book, { connections: 64, forMs: fillMsMax });
  const perSecond = (book.accepted * 1000) / (performance.now() - startedAt);
  return { made: book.accepted, perSecond };
}

async function pending({ pids }: System, emptyMiB: number) {
  await sleep(calmMs);
  const more = residentMiB(pids) - emptyMiB;
  const [usedBefore, idleFrom] = [cpuMs(pids), performance.now()];
  await sleep(idleMs);
  const idlePercent = ((cpuMs(pids) - usedBefore) / (performance.now() - idleFrom)) * 100;
  return { idlePercent, residentMiB: more };
}

async function timed(system: System, path: string): Promise<number> {
  const times = new Float64Array(looks);
  for (let look = -warmUps; look < looks; look++) {
    const startedAt = performance.now();
    await ask(system, "GET", path);
    if (look >= 0) times[look] = performance.now() - startedAt;
  }
  return percentile(times.sort(), 0.99);
}

async function ask({ port }: System, method: string, path: string, body?: object): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
}
