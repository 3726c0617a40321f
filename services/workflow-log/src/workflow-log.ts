/**
 * The workflow-log: writes the message log from the events that it hears, in batches and off the delivery path, and removes
 * events, dead letters and runs past their retention.
 *
 * Over a store that writes the log within its own settle (the embedded one) only the removal is left to do.
 */
import { limits, cutOff } from "@posthaste/domain";
import {
  type Accounts,
  type Clock,
  type DeadLetters,
  type EventBus,
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
  readonly deadLetters: DeadLetters;
  readonly runs: RunStore;
  readonly runLog: RunLog;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly log: Log;
};

const sweepEveryMs = 60_000;
const sweepMax = 5_000;
/** No caller waits for the log, and a few large writes cost this process half of what many small ones do (ADR 10). */
const unhurried = { gatherMs: 100 } as const;
const noBody = new Uint8Array();

export class WorkflowLog {
  readonly name = "workflow-log";
  readonly #ports: WorkflowLogPorts;
  #unsubscribe: readonly (() => Promise<void>)[] = [];
  #timer: (() => void) | undefined;
  #sweeping: Promise<void> | undefined;
  #stopped = false;

  constructor(ports: WorkflowLogPorts) {
    this.#ports = ports;
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

  /** Subscribes. The bus counts a fact as heard when the handler resolves, so the handler resolves after its write. */
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
      // Each tenant has its own retention, closed ones included.
      for await (const page of tenantPages(accounts))
        for (const tenant of page) await this.#sweepOf(tenant);
    } catch (error) {
      log.warn("retention.failed", { error });
    }
  }

  async #sweepOf({ id, plan }: Tenant): Promise<void> {
    const { clock, messageLog, deadLetters, runs } = this.#ports;
    await untilDone(
      () => messageLog.sweep(id, cutOff(plan.logMs, clock.now()), sweepMax),
      () => this.#stopped,
    );
    await untilDone(
      () => deadLetters.sweep(id, cutOff(plan.deadLetterMs, clock.now()), sweepMax),
      () => this.#stopped,
    );
    // A failed run is its own dead letter, and its messages may be reported for a day.
    const runsMs = Math.max(plan.logMs, plan.deadLetterMs, limits.tombstoneMs);
    await untilDone(
      () => runs.sweep(id, cutOff(runsMs, clock.now()), sweepMax),
      () => this.#stopped,
    );
  }
}

async function untilDone(sweep: () => Promise<number>, stopped: () => boolean): Promise<void> {
  while (!stopped() && (await sweep()) >= sweepMax);
}
