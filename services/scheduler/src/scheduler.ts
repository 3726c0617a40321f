/**
 * The scheduler: rings alarms, grants lanes, gives turns, expands group publishes, sweeps what has ended.
 *
 * It holds one timer, to the earliest alarm of its shards; an idle store is not looked at. Two schedulers on one shard
 * do no harm: all their writes are conditional (docs/design/outages#ownership-is-an-economy). While the bus is away nothing is rung here: a ring moves
 * the alarm, and its hint would be lost. The deliverers stand by meanwhile.
 */
import { limits, agoMs, cutOff, untilMs } from "@posthaste/domain";
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

/** An alarm whose hint was lost is found this late at the most. */
const lookAgainMsMax = 30_000;
const retryMs = 250;
/** Before the next one is due: two sweeps remove the same records. */
const sweepMsMax = (limits.sweepEveryMs * 2) / 3;

export class Scheduler {
  readonly name = "scheduler";
  readonly #ports: SchedulerPorts;
  readonly #metrics: Metrics;
  /** As the bus gives them; the last ones stay while it is away (docs/design/outages#ownership-is-an-economy). */
  #shards: readonly number[] = [];
  readonly #background: BackgroundWork;
  #unsubscribe: (() => Promise<void>) | undefined;
  /** `ringsAt`: of `passedMs`, so that a clock which was set does not keep it from being armed sooner. */
  #timer: { readonly ringsAt: number; readonly cancel: () => void } | undefined;
  #sweepTimer: (() => void) | undefined;
  #round: Promise<void> | undefined;
  /** An alarm was due while a round was under way: it may have come too late for that. */
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

  /** What is due in a shard that has just come here may have been due for long. */
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

  /** One timer, to the earliest of what is known. */
  #arm(at: number): void {
    if (this.#stopped) return;
    const { clock } = this.#ports;
    // A wake may tell of an alarm years ahead; a clock takes no such wait, and looking again does no harm.
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

  /** Ends in its time, whatever there is to remove: the next one goes on. */
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
