/** Shows where the time goes: repeats the throughput scenario on an instance that profiles itself. */
import { join } from "node:path";
import { profilesFolder, repository } from "../folders.ts";
import { publishTemplate } from "../load/template.ts";
import { readProfiles } from "../profile/read.ts";
import { selfTimes } from "../profile/self-time.ts";
import { selfTimeTables } from "../profile/tables.ts";
import { figure, table } from "../report/markdown.ts";
import { startPosthaste } from "../systems/posthaste.ts";
import { cpuByThread } from "../systems/usage.ts";
import { measureThroughput } from "./measure.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const warmUpMs = 1_500;
const publishMs = 4_000;
const threadCpuMsMin = 5;

export const where: Scenario = {
  name: "where",
  title: "Where the time goes",
  budgetMs: 12_000,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const folder = join(profilesFolder, new Date().toISOString().replaceAll(":", "-"));
  const sink = await stage.sink();
  const system = await stage.start("posthaste", () => startPosthaste({ profilePath: folder }));
  if (system === undefined) return { blocks: ["Not measured."] };
  const template = publishTemplate(`http://127.0.0.1:${sink.port}/x`);
  const load = { template, connections: 64, forMs: publishMs };
  await measureThroughput(stage, system, { ...load, forMs: warmUpMs });
  const threadsBefore = new Map(cpuByThread(system.pids).map(({ name, cpuMs }) => [name, cpuMs]));
  const fromUs = Number(process.hrtime.bigint() / 1_000n);
  const { arrived } = await measureThroughput(stage, system, load);
  const threads = cpuByThread(system.pids)
    .map(({ name, cpuMs }) => ({ name, cpuMs: cpuMs - (threadsBefore.get(name) ?? 0) }))
    .filter(({ cpuMs }) => cpuMs >= threadCpuMsMin);
  // The profile is written when the process ends.
  await system.stop();

  const times = selfTimes(readProfiles(folder), repository, fromUs);
  const { busyMs } = times;
  stage.say(`the profile is in ${folder}`);
  return {
    blocks: [
      `From a CPU profile (every thread that runs JavaScript) of ${arrived.toLocaleString("en-US")} messages, 64 connections, after a warm-up; profiling itself costs a part of it. Busy for ${figure(busyMs)} ms, ${figure((busyMs * 1000) / arrived)} µs per message. Self time:`,
      ...selfTimeTables(times, arrived),
      "CPU by thread, as the kernel counts it (`libuv-worker` holds the threads of the file system and the crypto calls):",
      table(
        ["thread", "µs/message"],
        threads.map(({ name, cpuMs }) => [name, figure((cpuMs * 1000) / arrived)]),
      ),
    ],
  };
}
