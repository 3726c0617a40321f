/**
 * The callback-dispatcher: answers back. It hears what has been settled and works through the record's outbox. Hearing
 * nothing costs time only: the record's alarm rings while its outbox is not empty.
 */
import { limits, type MessageId, type TenantId } from "@posthaste/domain";
import { followUp, type FollowUpPorts } from "@posthaste/engine";
import { type Log, type SettledEvent } from "@posthaste/ports";
import { Loop } from "./loop.ts";

export type CallbackDispatcherPorts = FollowUpPorts & { readonly log: Log };

const batchMax = 100;
/** Beyond this we rely on the alarms. */
const waitingMax = 10_000;

export class CallbackDispatcher {
  readonly name = "callback-dispatcher";
  readonly #ports: CallbackDispatcherPorts;
  readonly #waiting = new Map<MessageId, TenantId>();
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
    for (const { id, message } of events) {
      if (!hasCallback(message) || this.#waiting.size >= waitingMax) continue;
      this.#waiting.set(id, message.tenant);
    }
    this.#loop.wake();
  }

  async #work(): Promise<void> {
    const { tenant, ids } = this.#takeOneTenant();
    try {
      const records = await this.#ports.messages.get(tenant, ids);
      const outboxes = records.flatMap((record) =>
        record && record.outbox.length > 0
          ? [{ message: record.message, items: record.outbox }]
          : [],
      );
      if (outboxes.length > 0) await followUp(this.#ports, outboxes);
    } catch (error) {
      this.#ports.log.warn("follow-up.postponed", {
        messages: ids.length,
        error,
        againInMs: limits.ringAheadMs,
      });
    }
  }

  #takeOneTenant(): { tenant: TenantId; ids: MessageId[] } {
    const [first] = this.#waiting.values();
    if (first === undefined) throw new Error("nothing waits");
    const ids: MessageId[] = [];
    for (const [id, tenant] of this.#waiting) {
      if (ids.length >= batchMax) break;
      if (tenant !== first) continue;
      ids.push(id);
      this.#waiting.delete(id);
    }
    return { tenant: first, ids };
  }
}

const hasCallback = ({ policy }: SettledEvent["message"]): boolean =>
  policy.callback !== undefined || policy.failureCallback !== undefined;
