/**
 * Requests that wait for events. Owns these requests by tenant, and one watch of each such tenant's log. When the log
 * has grown, its end is read once for all of them, and each waiter whose filter matches a new event is woken.
 *
 * (1) Waiters take at most a part of the connections, and one tenant at most a part of these; a request beyond that
 *     is refused.
 * (2) A waiter that is woken in vain reads a page and waits again; one that is not woken waits until its time is up.
 * (3) Once stopped, no request waits.
 */
import {
  fault,
  type Fault,
  type LogFilter,
  matchesLogged,
  type TenantId,
  tooFarAheadAfter,
  cutOff,
} from "@posthaste/domain";
import { type Clock, type Log, type MessageLog, type Service } from "@posthaste/ports";
import { lateMsMax } from "./live-page.ts";

export type LogWatchers = Service & {
  /** Joins before the log is read for the first time, so that no event falls in between. */
  join(tenant: TenantId, filter: LogFilter): Waiter | Fault;
};

export type Waiter = {
  /** Whether the waiter has left, or waiting has ended. */
  readonly isOver: boolean;
  /** Resolves when there may be new events since the last call, when the waiter is over, or after `ms`. */
  grown(ms: number): Promise<void>;
  leave(): void;
};

export type WatcherPorts = {
  readonly messageLog: Pick<MessageLog, "list" | "watch">;
  readonly clock: Clock;
  readonly log: Log;
};

/** The time, in milliseconds, within which new events count as one growth. */
export const gatherMs = 100;
/** The number of events read from the end of the log. If all are new there may be more, and all waiters are woken. */
const eventsMax = 100;
const bytesMax = 256 * 1024;
/** The divisor of the process's connections that gives the number of waiters; below, the divisor of that for one tenant. */
const waitingShare = 4;
const tenantsShare = 8;

type Place = { readonly filter: LogFilter; readonly wake: () => void; readonly end: () => void };
type Watched = { readonly places: Set<Place>; readonly stop: () => void };

export function createLogWatchers(ports: WatcherPorts, connectionsMax: number): LogWatchers {
  const watched = new Map<TenantId, Watched>();
  const waitersMax = Math.ceil(connectionsMax / waitingShare);
  const perTenantMax = Math.ceil(waitersMax / tenantsShare);
  let waiters = 0;
  let isStopped = false;

  function add(tenant: TenantId, place: Place): void {
    const known = watched.get(tenant);
    const places = known?.places ?? new Set();
    if (!known) watched.set(tenant, { places, stop: watch(ports, tenant, places) });
    places.add(place);
    waiters++;
  }

  function remove(tenant: TenantId, place: Place): void {
    const known = watched.get(tenant);
    if (!known?.places.delete(place)) return;
    waiters--;
    if (known.places.size > 0) return;
    known.stop();
    watched.delete(tenant);
  }

  return {
    name: "log watchers",
    start: async () => undefined,
    stop: async () => {
      isStopped = true;
      for (const { places } of watched.values()) for (const { end } of [...places]) end();
    },
    join: (tenant, filter) => {
      const own = watched.get(tenant)?.places.size ?? 0;
      if (own >= perTenantMax) return fault("too_many_requests", `${own} requests are waiting`);
      if (waiters >= waitersMax) return fault("overloaded", "too many requests are waiting");
      const bell = createBell(ports.clock);
      const leave = (): void => {
        remove(tenant, place);
        bell.end();
      };
      const place = { filter, wake: bell.ring, end: leave };
      if (isStopped) bell.end();
      else add(tenant, place);
      return {
        get isOver() {
          return bell.isOver;
        },
        grown: bell.rung,
        leave,
      };
    },
  };
}

/** Reads the end of the log when it has grown, and wakes waiters. Returns a function that ends the watch. */
function watch(
  { messageLog, clock, log }: WatcherPorts,
  tenant: TenantId,
  places: ReadonlySet<Place>,
): () => void {
  let known: ReadonlySet<string> = new Set();
  let callOff: (() => void) | undefined;
  let hasGrown = false;
  let isOver = false;

  const grown = (): void => {
    hasGrown = true;
    callOff ??= clock.after(gatherMs, () => void look());
  };
  async function look(): Promise<void> {
    hasGrown = false;
    try {
      await wakeForNew();
    } catch (error) {
      // Each waiter gets the error in its own read.
      log.warn("log.unwatched", { tenant, error });
      for (const { wake } of places) wake();
    }
    callOff = undefined;
    if (hasGrown && !isOver) grown();
  }
  async function wakeForNew(): Promise<void> {
    const page = { limit: eventsMax, bytesMax, order: "latestFirst", bodyBytesMax: 0 } as const;
    const now = clock.now();
    const end = { from: cutOff(lateMsMax, now), to: tooFarAheadAfter(0, now) };
    const { items, next, positions } = await messageLog.list(tenant, end, page);
    const fresh = items.filter((_, n) => !known.has(positions[n] ?? ""));
    known = new Set(positions);
    const mayHaveMore = next !== undefined && fresh.length === items.length;
    for (const { filter, wake } of places)
      if (mayHaveMore || fresh.some(({ event, message }) => matchesLogged(filter, event, message)))
        wake();
  }

  const stop = messageLog.watch(tenant, grown);
  return () => {
    isOver = true;
    stop();
    callOff?.();
  };
}

/** A signal that is also received if it is given before anything waits for it. */
function createBell(clock: Clock) {
  let isRung = false;
  let isOver = false;
  let hear: (() => void) | undefined;
  return {
    get isOver() {
      return isOver;
    },
    ring: (): void => {
      isRung = true;
      hear?.();
    },
    end: (): void => {
      isOver = true;
      hear?.();
    },
    rung: async (ms: number): Promise<void> => {
      if (!isRung && !isOver)
        await new Promise<void>((resolve) => {
          const callOff = clock.after(ms, resolve);
          hear = () => {
            callOff();
            resolve();
          };
        });
      hear = undefined;
      isRung = false;
    },
  };
}
