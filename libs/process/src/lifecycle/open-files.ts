/**
 * Fits the sockets of a process to the number of files that it may have open. A process that is allowed too few says
 * so when it starts and runs with fewer connections, instead of failing in the middle of its work.
 */
import { readFileSync } from "node:fs";
import { type Log } from "@posthaste/ports";

/** The most connections of callers, at all listeners, and to destinations, with a call or kept without one. */
export type Sockets = { readonly connections: number; readonly calls: number };

export type CallsConfig = { readonly maxInFlight?: number; readonly maxWaiting?: number };

/** Calls that wait for their answer are counted beside those in flight. */
export const callsMaxOf = ({ maxInFlight = 0, maxWaiting = 0 }: CallsConfig): number =>
  maxInFlight + maxWaiting;

/** Files of the store, threads, the listeners, collectors and stores, name servers, and files open for a moment. */
const ownFilesMax = 64;
/** At least one connection must be able to come in, and one call to go out. */
const socketsMin = 8;

/** Gives half to the calls, if they need it, and the rest to the callers. `limit`: undefined if it is not known. Pure. */
export function socketsWithin(limit: number | undefined, wanted: Sockets): Sockets {
  if (limit === undefined || ownFilesMax + wanted.connections + wanted.calls <= limit)
    return wanted;
  const rest = Math.max(limit - ownFilesMax, 2 * socketsMin);
  const half = Math.floor(rest / 2);
  const calls = Math.min(wanted.calls, Math.max(half, rest - wanted.connections));
  return { calls, connections: Math.min(wanted.connections, rest - calls) };
}

/** A further listener, beside the one for callers, gets one part in this many of all connections. */
const partsOfListener = 16;
const listenerMin = 4;

/** Returns the connections at each of `others` further listeners, and how many are left for callers. Pure. */
export function listenersWithin(
  connections: number,
  others: number,
): { readonly callers: number; readonly each: number } {
  const each = Math.max(listenerMin, Math.floor(connections / partsOfListener));
  return { callers: Math.max(1, connections - others * each), each };
}

export function fitSockets(wanted: Sockets, log: Log, limit = openFilesMax()): Sockets {
  const fitting = socketsWithin(limit, wanted);
  if (fitting !== wanted) {
    log.warn("process.few_open_files", {
      limit,
      needed: ownFilesMax + wanted.connections + wanted.calls,
      ...fitting,
    });
  }
  return fitting;
}

/** Returns undefined if the system does not show the limit in a file. */
export function openFilesMax(): number | undefined {
  try {
    return limitIn(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return undefined;
  }
}

/** Returns the limit that applies now, from the text of `/proc/<pid>/limits`. */
export function limitIn(text: string): number | undefined {
  const value = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}
