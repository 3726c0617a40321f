/**
 * The workflow-log: writes the message log from the events that it receives, in batches and off the delivery path, and
 * removes events, kept bodies, dead letters and runs past their retention. Over a store that writes the log within
 * its own settle (the embedded one) it only removes.
 */
import { limits, cutOff, keptMsMaxNext, keptMsOf, planBounds } from "@posthaste/domain";
import {
  type Accounts,
  type Clock,
  type DeadLetters,
  type EventBus,
  type KeptBodies,
  type Log,
  type MessageLog,
  type RunLog,
  type RunStore,
  type SettledEvent,
  type Tenant,
  tenantPages,
} from "@posthaste/ports";

export type WorkflowLogPorts = {
  readonly accounts: Pick<Accounts, "tenantPage">;
  readonly messageLog: MessageLog;
  readonly keptBodies: KeptBodies;
  readonly deadLetters: DeadLetters;
  readonly runs: RunStore;
  readonly runLog: RunLog;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly log: Log;
};

export type WorkflowLogOptions = {
  /** The share of the store's disk that may be in use before kept bodies are removed. */
  readonly diskShareMax: number;
};

const sweepEveryMs = 60_000;
const sweepMax = 5_000;
/** No caller waits for the log, and a few large writes cost this process half of what many small ones do (ADR 10). */
const unhurried = { gatherMs: 100 } as const;
const noBody = new Uint8Array();

export class WorkflowLog {
  readonly name = "workflow-log";
  readonly #ports: WorkflowLogPorts;
  readonly #options: WorkflowLogOptions;
  #unsubscribe: readonly (() => Promise<void>)[] = [];
  #timer: (() => void) | undefined;
  #sweeping: Promise<void> | undefined;
  #stopped = false;
  /** How long bodies are kept at most while the disk is too full; undefined for as long as the plans say. */
  #keptMsMax: number | undefined;
  /** The longest time that a plan keeps bodies, as of the last sweep. */
  #longestKeptMs = planBounds.keepBodiesMs.max;

  constructor(ports: WorkflowLogPorts, options: WorkflowLogOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#ports.messageLog.writtenBy === "facts") await this.#subscribe();
    this.#armSweep();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const unsubscribe of this.#unsubscribe) await unsubscribe();
    this.#timer?.();
    await this.#sweeping;
  }

  /** Subscribes. The bus counts a fact as handled when the handler resolves, so the handler resolves after its write. */
  async #subscribe(): Promise<void> {
    const { bus, messageLog } = this.#ports;
    this.#unsubscribe = [
      await bus.subscribe(
        "message.accepted",
        "workflow-log",
        (events) =>
          messageLog.append(
            events.map(({ message }) => ({ message: { ...message, body: noBody } })),
          ),
        unhurried,
      ),
      await bus.subscribe(
        "message.settled",
        "workflow-log",
        (events) => this.#remember(events),
        unhurried,
      ),
    ];
  }

  /** Attempts of a run's deliveries belong in the log of runs alone. */
  async #remember(events: readonly SettledEvent[]): Promise<void> {
    const { messageLog, runLog } = this.#ports;
    const ofRuns = events.flatMap(({ message: { run }, fact }) => (run ? { run, fact } : []));
    const others = events.filter(({ message }) => !message.run);
    if (ofRuns.length > 0) await runLog.append(ofRuns);
    if (others.length > 0)
      await messageLog.append(
        others.map(({ message, fact }) => ({ message: { ...message, body: noBody }, fact })),
      );
  }

  #armSweep(): void {
    if (this.#stopped) return;
    this.#timer = this.#ports.clock.after(sweepEveryMs, () => {
      this.#sweeping = this.#sweep().finally(() => this.#armSweep());
    });
  }

  async #sweep(): Promise<void> {
    const { accounts, log } = this.#ports;
    try {
      await this.#makeWay();
      let longestKeptMs = 0;
      // Each tenant has its own retention, closed ones included.
      for await (const page of tenantPages(accounts))
        for (const tenant of page) {
          await this.#sweepOf(tenant);
          longestKeptMs = Math.max(longestKeptMs, keptMsOf(tenant.plan));
        }
      this.#longestKeptMs = longestKeptMs;
    } catch (error) {
      log.warn("retention.failed", { error });
    }
  }

  /** Decides by the disk how long bodies may be kept at most. A store that does not report its disk is swept, too. */
  async #makeWay(): Promise<void> {
    const { keptBodies, log } = this.#ports;
    const share = await keptBodies.diskShare().catch((error: unknown) => {
      log.warn("retention.disk_unknown", { error });
      return undefined;
    });
    if (share === undefined) return;
    const before = this.#keptMsMax;
    this.#keptMsMax = keptMsMaxNext(before, {
      isFull: share > this.#options.diskShareMax,
      longestMs: this.#longestKeptMs,
    });
    if (this.#keptMsMax !== before)
      log.warn("retention.bodies_kept_for", { keptMsMax: this.#keptMsMax, diskShare: share });
  }

  async #sweepOf({ id, plan }: Tenant): Promise<void> {
    const { clock, keptBodies, messageLog, deadLetters, runs } = this.#ports;
    const keptMs = Math.min(keptMsOf(plan), this.#keptMsMax ?? Number.POSITIVE_INFINITY);
    const stores = [
      [keptBodies, keptMs],
      [messageLog, plan.logMs],
      [deadLetters, plan.deadLetterMs],
      // A failed run is its own dead letter, and its messages may be reported for a day.
      [runs, Math.max(plan.logMs, plan.deadLetterMs, limits.tombstoneMs)],
    ] as const;
    for (const [store, ageMs] of stores) {
      let swept = sweepMax;
      while (!this.#stopped && swept >= sweepMax)
        swept = await store.sweep(id, cutOff(ageMs, clock.now()), sweepMax);
    }
  }
}
