/** What a process has used, as the Linux kernel counts it: robust where throughput on a shared host is not. */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** User and system time of all threads of these processes, in milliseconds. */
export const cpuMs = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + ticksOf(`/proc/${pid}/stat`), 0) * (1000 / ticksPerSecond);

/** Resident memory of these processes, in MiB. */
export const residentMiB = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + statusKiB(pid, "VmRSS"), 0) / 1024;

export type ThreadUse = { readonly name: string; readonly cpuMs: number };

/** CPU time by kind of thread: which of them is busy is the first thing to know. */
export function cpuByThread(pids: readonly number[]): readonly ThreadUse[] {
  const uses = new Map<string, number>();
  for (const pid of pids) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const folder = `/proc/${pid}/task/${thread}`;
      const command = readFileSync(`${folder}/comm`, "utf8").trim();
      const name = thread === String(pid) ? `${command} (main thread)` : command;
      uses.set(name, (uses.get(name) ?? 0) + ticksOf(`${folder}/stat`) * (1000 / ticksPerSecond));
    }
  }
  return [...uses].map(([name, ms]) => ({ name, cpuMs: ms }));
}

/** Fields 14 and 15; the second field is the command in parentheses and may hold anything. */
function ticksOf(file: string): number {
  const text = readFileSync(file, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

function statusKiB(pid: number, field: string): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);
}
