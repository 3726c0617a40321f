// Runs the processes of gates, and ends them with all that they started.
//
// (1) Every started process ends at the latest with this one, unless this one is killed.
// (2) CPU seconds are counted when a process has ended, so those of processes that run side by side are not mixed.
import { spawn } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { readReport } from "./count.js";
import { root, tellSignal } from "./list.js";

const outputCharsMax = 200_000;
const lingerMsMax = 10_000;
const tellMsMax = 3_000;
/** The unit of CPU times in Linux's /proc. */
const clockTicksPerSecond = 100;

let cpuSecondsSeen = 0;
const running = new Set();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    for (const child of running) killGroup(child);
    process.exit(130);
  });
}

/** Starts Node in a process group of its own. `ended` resolves with the exit code or signal, and the CPU seconds. */
export function start({ args, env, nice }) {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
  });
  running.add(child);
  if (nice && child.pid) giveWay(child.pid, nice);
  let output = "";
  const keep = (text) => (output = (output + text).slice(-outputCharsMax));
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", keep);
  child.on("error", (error) => keep(error.stack));
  let cpuSeconds;
  child.on("exit", () => {
    cpuSeconds = cpuSecondsOfEnded();
    killGroup(child);
  });
  const ended = new Promise((resolve) => {
    child.on("close", (code, signal) => {
      running.delete(child);
      resolve({ code: code ?? signal, cpuSeconds });
    });
  });
  return { child, output: () => output, ended };
}

export async function run({ report, open, processes, secondsMax, ...gate }) {
  const { child, output, ended } = start(gate);
  let killed;
  const kill = (reason) => {
    killed ??= `killed ${reason}`;
    killGroup(child);
  };
  const limit = setTimeout(() => kill(`after ${secondsMax} s`), secondsMax * 1000);
  let isForgiven = false;
  const watch = setInterval(async () => {
    const reportedAt = report && statSync(report, { throwIfNoEntry: false })?.mtimeMs;
    const isLingering = reportedAt && Date.now() - reportedAt > lingerMsMax;
    if (!isLingering) return;
    clearInterval(watch);
    isForgiven = processes === true;
    for (const handle of await openIn(child, open)) console.log(`LEFT OPEN ${handle}`);
    kill("since a test left something open: Jest had finished and did not end");
  }, 1000);

  const { code, cpuSeconds } = await ended;
  clearTimeout(limit);
  clearInterval(watch);
  const exit = killed ?? (code === 0 ? "ok" : `exit ${code}`);
  return { exit: isForgiven ? "ok" : exit, output: output(), cpuSeconds };
}

/** Adds niceness to the leader of a session and to everything that it will start. */
function giveWay(pid, nice) {
  setPriority(pid, Math.min(getPriority() + nice, constants.priority.PRIORITY_LOW));
  try {
    // Where Linux groups processes by session, the niceness of a process counts within its session only.
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // This system does not group them.
  }
}

/** Returns the CPU seconds of processes that ended since the last call, with their children. Undefined outside Linux. */
function cpuSecondsOfEnded() {
  const all = cpuSecondsOfChildren();
  if (all === undefined) return undefined;
  const seconds = all - cpuSecondsSeen;
  cpuSecondsSeen = all;
  return seconds;
}

function cpuSecondsOfChildren() {
  try {
    // The name in the second field may contain spaces. The state follows its bracket.
    const [, fields] = readFileSync("/proc/self/stat", "utf8").split(") ");
    const [user, system] = fields.split(" ").slice(13, 15);
    return (Number(user) + Number(system)) / clockTicksPerSecond;
  } catch {
    return undefined;
  }
}

/** Returns what keeps the event loop of `child` alive, in words. */
async function openIn(child, file) {
  rmSync(file, { force: true });
  child.kill(tellSignal);
  const until = Date.now() + tellMsMax;
  const told = () => readReport(file)?.libuv;
  while (!told() && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 200));
  const handles = (told() ?? []).filter((handle) => handle.is_active && handle.is_referenced);
  if (handles.length === 0) return ["an unnamed handle"];
  return handles.map(({ type, pid, localEndpoint, remoteEndpoint, firesInMsFromNow }) => {
    const ends = [localEndpoint, remoteEndpoint].map((end) => end && `${end.host}:${end.port}`);
    const due = firesInMsFromNow === undefined ? "" : `due in ${firesInMsFromNow} ms`;
    return [type, pid, ends.filter(Boolean).join(" to "), due].filter(Boolean).join(" ");
  });
}

export function killGroup(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL"); // No such group: all have ended, or this is Windows, which has none.
  }
}
