/**
 * The scheduler: rings alarms, grants lanes, gives turns, expands group publishes, sweeps finished records.
 *
 * A scheduler holds one timer, set to the earliest alarm of its shards, and does not poll an idle store. A round looks only at the sources
 * that have something due. Two schedulers on one shard do no harm, since all their writes are conditional (docs/design/outages#ownership-only-saves-work). While the bus is away a scheduler
 * rings nothing: a ring would move the alarm and lose its hint. The standbys of the deliverers ring meanwhile.
 */
import {
  elapsedMs,
  type AlarmSource,
  alarmSources,
  cutOff,
  keepsBodies,
  limits,
  type TenantId,
  untilMs,
} from "@posthaste/domain";
import {
  BackgroundWork,
  followUpSome,
  ringOnce,
  type RingPorts,
  serveLane,
  sourcesOf,
  sourcesToRing,
} from "@posthaste/engine";
import {
  type Groups,
  type Metrics,
  noTelemetry,
  type Telemetry,
  type WakeEvent,
} from "@posthaste/ports";
import { Timetable } from "./timetable.ts";

export type SchedulerPorts = RingPorts & {
  readonly groups: Groups;
  readonly telemetry?: Telemetry;
};

/** The longest time for which an alarm whose hint was lost goes unnoticed. */
const lookAgainMsMax = 30_000;
const retryMs = 250;
/** Ends a sweep before the next one is due, since two sweeps would remove the same records. */
const sweepMsMax = (limits.sweepEveryMs * 2) / 3;

export class Scheduler {
  readonly name = "scheduler";
  readonly #ports: SchedulerPorts;
  readonly #metrics: Metrics;
  /**
   * The shards that the bus gives to this scheduler. While the bus is away the last ones stay
   * (docs/design/outages#ownership-only-saves-work).
   */
  #shards: readonly number[] = [];
  readonly #background: BackgroundWork;
  #unsubscribe: (() => Promise<void>) | undefined;
  readonly #timetable = new Timetable();
  /** `ringsAt`: by `passedMs`. */
  #timer: { readonly ringsAt: number; readonly cancel: () => void } | undefined;
  #sweepTimer: (() => void) | undefined;
  #round: Promise<void> | undefined;
  #stopped = false;

  constructor(ports: SchedulerPorts) {
    this.#ports = ports;
    this.#metrics = (ports.telemetry ?? noTelemetry).metrics;
    this.#metrics.watch("posthaste_oldest_past_due_seconds", () => this.#oldestPastDueSeconds());
    this.#metrics.watch("posthaste_shard_owners", () =>
      Object.fromEntries(this.#shards.map((shard) => [shard, 1])),
    );
    this.#background = new BackgroundWork({
      log: ports.log,
      clock: ports.clock,
      serve: async (lane) => {
        const next = await serveLane(ports, lane);
        if (next) this.#lookAt([next.source], next.at);
      },
      followUpSome: (tenant, ids) => followUpSome(ports, tenant, ids),
      batchEnded: (kind) => this.#lookAt(sourcesOf(kind), ports.clock.now()),
    });
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#ports.bus.subscribe(
      "scheduler.wake",
      "scheduler",
      async (events) => this.#hear(events),
      { owns: (shards) => this.#own(shards) },
    );
    this.#armSweep();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#unsubscribe?.();
    this.#timer?.cancel();
    this.#sweepTimer?.();
    await this.#round;
    await this.#background.stop();
  }

  /** Takes over shards. An alarm of a new shard may have been due for long, so all are checked now. */
  #own(shards: readonly number[]): void {
    this.#shards = shards;
    if (shards.length > 0) this.#lookAt(alarmSources, this.#ports.clock.now());
  }

  #hear(events: readonly WakeEvent[]): void {
    if (this.#stopped) return;
    for (const event of events) {
      if ("lane" in event) this.#background.serve(event.lane);
      else this.#lookAt(event.source === "any" ? alarmSources : [event.source], event.at);
    }
  }

  /** Checks `sources` at `at`, by the store's clock, or after `lookAgainMsMax` if that is earlier. */
  #lookAt(sources: readonly AlarmSource[], at: number): void {
    const { clock } = this.#ports;
    const now = clock.now();
    const inMs = untilMs(at, lookAgainMsMax, now) - elapsedMs(at, Infinity, now);
    this.#timetable.bringForward(sources, clock.passedMs() + inMs);
    this.#arm();
  }

  /** Sets the one timer to the next round. A source whose kind has enough work waits for the end of a batch. */
  #arm(): void {
    if (this.#stopped || this.#round) return;
    const { clock } = this.#ports;
    const ringsAt = this.#timetable.next(sourcesToRing(this.#background));
    if (ringsAt === Infinity || (this.#timer && this.#timer.ringsAt <= ringsAt)) return;
    this.#timer?.cancel();
    const waitMs = Math.max(0, Math.ceil(ringsAt - clock.passedMs()));
    const cancel = clock.after(waitMs, () => {
      this.#timer = undefined;
      this.#round = this.#ring(ringsAt).finally(() => {
        this.#round = undefined;
        this.#arm();
      });
    });
    this.#timer = { ringsAt, cancel };
  }

  async #ring(dueAt: number): Promise<void> {
    const { bus, clock, alarms, log } = this.#ports;
    const begunAt = Math.max(dueAt, clock.passedMs());
    const sources = this.#timetable.take(sourcesToRing(this.#background), begunAt);
    if (sources.length === 0) return;
    if (!bus.isUp() || !this.#background.hasRoom) {
      this.#lookAt(sources, clock.now() + retryMs);
      return;
    }
    try {
      const { rang, more } = await ringOnce(
        this.#ports,
        this.#background,
        this.#shards,
        limits.ringBatchMax,
        sources,
      );
      if (rang > 0)
        this.#metrics.observe("posthaste_timer_lateness_seconds", (begunAt - dueAt) / 1_000);
      await Promise.all(
        sources.map(async (source) => {
          const next = more.has(source) ? clock.now() : await alarms.next(this.#shards, [source]);
          this.#lookAt([source], next ?? Infinity);
        }),
      );
    } catch (error) {
      log.warn("ring.failed", { error });
      this.#lookAt(sources, clock.now() + retryMs);
    }
  }

  async #oldestPastDueSeconds(): Promise<number> {
    const { clock, alarms } = this.#ports;
    const alarm = await alarms.next(this.#shards, ["record", "flow", "queue"]);
    return elapsedMs(alarm ?? Infinity, Infinity, clock.now()) / 1_000;
  }

  #armSweep(): void {
    if (this.#stopped) return;
    this.#sweepTimer = this.#ports.clock.after(limits.sweepEveryMs, () => {
      this.#background.run("sweep", () => this.#sweep());
      this.#armSweep();
    });
  }

  readonly #keepsBodies = (id: TenantId): boolean => keepsBodies(this.#ports.tenants.get(id)?.plan);

  /** Removes finished records. Stops within `sweepMsMax`, however many there are; the next sweep continues. */
  async #sweep(): Promise<void> {
    const { bulkActions, clock, groups, records } = this.#ports;
    const begunMs = clock.passedMs();
    const now = clock.now();
    let removed: number;
    do {
      removed = await records.removeFinished(
        this.#shards,
        cutOff(limits.finishedKeepMs, now),
        limits.sweepBatchMax,
        this.#keepsBodies,
      );
    } while (
      removed >= limits.sweepBatchMax &&
      clock.passedMs() - begunMs < sweepMsMax &&
      !this.#stopped
    );
    await groups.sweep(limits.sweepBatchMax);
    await bulkActions.removeEnded(cutOff(limits.bulkActionKeptMs, now), limits.sweepBatchMax);
  }
}
