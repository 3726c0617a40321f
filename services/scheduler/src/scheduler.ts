/**
 * The scheduler: rings alarms, grants lanes, gives turns, expands group publishes, sweeps finished records.
 *
 * It holds one timer, set to the earliest alarm of its shards, and does not poll an idle store. Two schedulers on one shard do no
 * harm, since all their writes are conditional (docs/design/outages#ownership-is-an-economy). While the bus is away a scheduler
 * rings nothing: a ring would move the alarm and lose its hint. The deliverers stand by meanwhile.
 */
import { limits, agoMs, cutOff, keepsBodies, type TenantId, untilMs } from "@posthaste/domain";
import {
  BackgroundWork,
  followUpSome,
  ringOnce,
  type RingPorts,
  serveLane,
  sourcesNow,
} from "@posthaste/engine";
import {
  type Groups,
  type Metrics,
  noTelemetry,
  type Telemetry,
  type WakeEvent,
} from "@posthaste/ports";

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
   * (docs/design/outages#ownership-is-an-economy).
   */
  #shards: readonly number[] = [];
  readonly #background: BackgroundWork;
  #unsubscribe: (() => Promise<void>) | undefined;
  /** `ringsAt`: the time by `passedMs`, so that setting the clock does not prevent an earlier timer. */
  #timer: { readonly ringsAt: number; readonly cancel: () => void } | undefined;
  #sweepTimer: (() => void) | undefined;
  #round: Promise<void> | undefined;
  /** An alarm came due during a round, perhaps too late for that round. */
  #again = false;
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
        const wakeAt = await serveLane(ports, lane);
        if (wakeAt !== undefined) this.#arm(wakeAt);
      },
      followUpSome: (tenant, ids) => followUpSome(ports, tenant, ids),
      roomAgain: () => this.#arm(ports.clock.now()),
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

  /** Takes over shards. An alarm of a new shard may have been due for long, so a round begins now. */
  #own(shards: readonly number[]): void {
    this.#shards = shards;
    if (shards.length > 0) this.#arm(this.#ports.clock.now());
  }

  #hear(events: readonly WakeEvent[]): void {
    if (this.#stopped) return;
    let earliest = Infinity;
    for (const { at, lane } of events) {
      if (lane !== undefined) this.#background.grant(lane);
      else earliest = Math.min(earliest, at);
    }
    if (earliest < Infinity) this.#arm(earliest);
  }

  /** Sets the one timer to the earliest known alarm. */
  #arm(at: number): void {
    if (this.#stopped) return;
    const { clock } = this.#ports;
    // A wake may tell of an alarm years ahead, for which the clock takes no timer; a round that finds nothing does no harm.
    const waitMs = untilMs(at, lookAgainMsMax, clock.now());
    const ringsAt = clock.passedMs() + waitMs;
    if (this.#timer && this.#timer.ringsAt <= ringsAt) return;
    this.#timer?.cancel();
    const cancel = clock.after(waitMs, () => {
      this.#timer = undefined;
      this.#ring(at);
    });
    this.#timer = { ringsAt, cancel };
  }

  #ring(dueAt: number): void {
    if (this.#round) {
      this.#again = true;
      return;
    }
    this.#round = this.#ringAll(dueAt).finally(() => {
      this.#round = undefined;
      if (this.#again) this.#arm(this.#ports.clock.now());
      this.#again = false;
    });
  }

  async #ringAll(dueAt: number): Promise<void> {
    const { bus, clock, alarms, log } = this.#ports;
    if (!bus.isUp() || !this.#background.hasRoom) {
      this.#arm(clock.now() + retryMs);
      return;
    }
    const begunAt = clock.now();
    try {
      const { rang, more } = await ringOnce(
        this.#ports,
        this.#background,
        this.#shards,
        limits.ringBatchMax,
      );
      if (rang > 0)
        this.#metrics.observe(
          "posthaste_timer_lateness_seconds",
          agoMs(dueAt, Infinity, begunAt) / 1_000,
        );
      const next = more
        ? clock.now()
        : await alarms.next(this.#shards, sourcesNow(bus, this.#background));
      this.#arm(Math.min(next ?? Infinity, clock.now() + lookAgainMsMax));
    } catch (error) {
      log.warn("ring.failed", { error });
      this.#arm(clock.now() + retryMs);
    }
  }

  async #oldestPastDueSeconds(): Promise<number> {
    const { clock, alarms } = this.#ports;
    const alarm = await alarms.next(this.#shards, ["record"]);
    return agoMs(alarm ?? Infinity, Infinity, clock.now()) / 1_000;
  }

  #armSweep(): void {
    if (this.#stopped) return;
    this.#sweepTimer = this.#ports.clock.after(limits.sweepEveryMs, () => {
      this.#background.run("sweep", () => this.#sweep());
      this.#armSweep();
    });
  }

  readonly #keepsBodies = (id: TenantId): boolean => keepsBodies(this.#ports.tenants.get(id)?.plan);

  /** Removes finished records. Stops within `sweepMsMax`, however many there are; the next sweep goes on. */
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
