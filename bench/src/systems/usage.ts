/** Reads what a process has used, as the Linux kernel counts it: robust where throughput on a shared host is not. */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** Returns the user and system time of all threads of these processes, in milliseconds. */
export const cpuMs = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + ticksOf(`/proc/${pid}/stat`), 0) * (1000 / ticksPerSecond);

/** Returns the same for these processes and all their descendants, since some servers begin and end processes all the time. */
export function cpuMsBelow(roots: readonly number[]): number {
  const parents = parentOfEach();
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (roots.includes(pid) || isBelow(parents.get(pid)));
  const ticks = [...parents.keys()]
    .filter(isBelow)
    .reduce((sum, pid) => sum + ticksOf(`/proc/${pid}/stat`, ticksWithEnded), 0);
  return ticks * (1000 / ticksPerSecond);
}

export const ownChildren = (): readonly number[] =>
  [...parentOfEach()].flatMap(([pid, parent]) => (parent === process.pid ? pid : []));

function parentOfEach(): ReadonlyMap<number, number> {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return new Map(pids.map((pid) => [pid, Number(fieldsOf(`/proc/${pid}/stat`)[1])]));
}

export const residentMiB = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + statusKiB(pid, "VmRSS"), 0) / 1024;

/** User and system time, and that of ended children: fields 14 to 17 of the line, counted here from its third. */
const ticksOwn = [11, 12];
const ticksWithEnded = [11, 12, 13, 14];

const ticksOf = (file: string, which = ticksOwn): number => {
  const fields = fieldsOf(file);
  return which.reduce((sum, n) => sum + Number(fields[n] ?? 0), 0);
};

/** Returns the fields after the second, which is the command in parentheses and may hold anything. */
function fieldsOf(file: string): readonly string[] {
  const text = textOf(file);
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

const statusKiB = (pid: number, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0);

/** Returns an empty text for a process that has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
