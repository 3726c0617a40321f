/**
 * The callback-dispatcher: receives facts of settled messages and works the outboxes of their records. A lost fact costs only time,
 * since the record's alarm rings while its outbox is not empty. A record that has waited here until shortly before that alarm is
 * left to it, so that a backlog is not worked twice at the same time.
 */
import { limits, type MessageId, type TenantId, leftMs } from "@posthaste/domain";
import { followUp, type FollowUpPorts } from "@posthaste/engine";
import { type Log, type SettledEvent } from "@posthaste/ports";
import { Loop } from "./loop.ts";

export type CallbackDispatcherPorts = FollowUpPorts & { readonly log: Log };

const batchMax = 100;
/** The number of waiting records beyond which new ones are left to their alarms. */
const waitingMax = 10_000;

export class CallbackDispatcher {
  readonly name = "callback-dispatcher";
  readonly #ports: CallbackDispatcherPorts;
  readonly #waiting = new Map<MessageId, Waiting>();
  readonly #loop = new Loop({ hasWork: () => this.#waiting.size > 0, step: () => this.#work() });
  #unsubscribe: (() => Promise<void>) | undefined;

  constructor(ports: CallbackDispatcherPorts) {
    this.#ports = ports;
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#ports.bus.subscribe(
      "message.settled",
      "callback-dispatcher",
      async (events) => this.#hear(events),
    );
  }

  async stop(): Promise<void> {
    await this.#unsubscribe?.();
    await this.#loop.ended();
  }

  #hear(events: readonly SettledEvent[]): void {
    for (const { id, message, fact } of events) {
      if (!hasCallback(message) || this.#waiting.size >= waitingMax) continue;
      this.#waiting.set(id, { tenant: message.tenant, leftAtMs: this.#leftAtMs(fact.endedAt) });
    }
    this.#loop.wake();
  }

  async #work(): Promise<void> {
    const { tenant, taken } = this.#takeOneTenant();
    if (tenant === undefined) return;
    const ids = [...taken.keys()];
    try {
      const { records, left } = await this.#ports.records.getSome(tenant, ids);
      for (const id of left) this.#putBack(id, taken);
      await followUp(this.#ports, records);
    } catch (error) {
      this.#ports.log.warn("follow-up.postponed", {
        messages: ids.length,
        error,
        againInMs: limits.ringAheadMs,
      });
    }
  }

  /** Returns the time to leave a record to its alarm, shortly before that rings, `limits.ringAheadMs` after the end of the attempt. */
  #leftAtMs(endedAt: number): number {
    const { clock } = this.#ports;
    const alarmInMs = leftMs(endedAt + limits.ringAheadMs, limits.ringAheadMs, clock.now());
    return clock.passedMs() + alarmInMs - limits.followUpLeftMs;
  }

  /** Takes records of the tenant that has waited longest. Returns no tenant when all waiting records were left to their alarms. */
  #takeOneTenant(): { tenant: TenantId | undefined; taken: ReadonlyMap<MessageId, Waiting> } {
    const passedMs = this.#ports.clock.passedMs();
    let tenant: TenantId | undefined;
    const taken = new Map<MessageId, Waiting>();
    for (const [id, waiting] of this.#waiting) {
      if (taken.size >= batchMax) break;
      const isLeft = waiting.leftAtMs <= passedMs;
      if (!isLeft) tenant ??= waiting.tenant;
      if (!isLeft && waiting.tenant !== tenant) continue;
      this.#waiting.delete(id);
      if (!isLeft) taken.set(id, waiting);
    }
    return { tenant, taken };
  }

  /** Puts a record back, unless a newer fact of it was received in the meantime. */
  #putBack(id: MessageId, taken: ReadonlyMap<MessageId, Waiting>): void {
    const waiting = taken.get(id);
    if (waiting && !this.#waiting.has(id)) this.#waiting.set(id, waiting);
  }
}

/** `leftAtMs`: the time, by `passedMs`, at which the record is left to its alarm. */
type Waiting = { readonly tenant: TenantId; readonly leftAtMs: number };

const hasCallback = ({ policy }: SettledEvent["message"]): boolean =>
  policy.callback !== undefined || policy.failureCallback !== undefined;
