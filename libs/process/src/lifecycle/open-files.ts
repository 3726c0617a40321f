/**
 * What this process may have open at once, against what its configuration may come to use. A process that is allowed too
 * little says so when it starts and runs with fewer connections: it would otherwise find out in the middle of its work.
 */
import { readFileSync } from "node:fs";
import { type Log } from "@posthaste/ports";

/** Connections of callers, at all listeners, and to destinations, with a call or kept without one, at once. */
export type Sockets = { readonly connections: number; readonly calls: number };

export type CallsConfig = { readonly maxInFlight?: number; readonly maxWaiting?: number };

/** Those that wait for their answer stand beside those in flight. */
export const callsMaxOf = ({ maxInFlight = 0, maxWaiting = 0 }: CallsConfig): number =>
  maxInFlight + maxWaiting;

/** Files of the store, threads, the listeners, collectors and stores, name servers, and what is open for a moment. */
const ownFilesMax = 64;
/** A connection must be able to come in, and a call to go out. */
const socketsMin = 8;

/** Half for the calls, if they need it, and the rest for the callers. `limit` undefined: it is not known. Pure. */
export function socketsWithin(limit: number | undefined, wanted: Sockets): Sockets {
  if (limit === undefined || ownFilesMax + wanted.connections + wanted.calls <= limit)
    return wanted;
  const rest = Math.max(limit - ownFilesMax, 2 * socketsMin);
  const half = Math.floor(rest / 2);
  const calls = Math.min(wanted.calls, Math.max(half, rest - wanted.connections));
  return { calls, connections: Math.min(wanted.connections, rest - calls) };
}

/** So many parts of all connections has a listener that stands beside the one for callers. */
const partsOfListener = 16;
const listenerMin = 4;

/** Callers' connections at each of so many other listeners, and those that are left. Pure. */
export function listenersWithin(
  connections: number,
  others: number,
): { readonly callers: number; readonly each: number } {
  const each = Math.max(listenerMin, Math.floor(connections / partsOfListener));
  return { callers: Math.max(1, connections - others * each), each };
}

/** Says in one line what is less than was wanted. */
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

/** Undefined where the system does not say so in a file. */
function openFilesMax(): number | undefined {
  try {
    return limitIn(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return undefined;
  }
}

/** Of the text of `/proc/<pid>/limits`, the limit that holds now. */
export function limitIn(text: string): number | undefined {
  const value = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}
