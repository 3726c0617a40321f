/**
 * Turns of queues: when an attempt ends the turn of its message, the queue is looked at beside the write of the
 * outcome, so that the next message begins without the scheduler. Owned by `Settling`.
 */
import {
  type InState,
  originHash,
  queueOfEndedTurn,
  type Settlement,
  type TenantId,
} from "@posthaste/domain";
import { announceTurns, hasMore, wakeLane } from "@posthaste/engine";
import { type Admitted } from "@posthaste/ports";
import { type Attempt, newAttempt } from "../attempts/attempt.ts";
import { type SharedParts } from "../parts.ts";
import { type DelivererPorts } from "../ports.ts";
import { traceClaim } from "../trace.ts";

/** A look at a queue. `end` says that the write that ends the turn was made. */
export type Look = { readonly looked: Promise<Looked | undefined>; readonly end: () => void };
type Looked = Admitted & { readonly askedAt: number };

export class Turns {
  readonly #ports: DelivererPorts;
  readonly #parts: SharedParts;
  readonly #giveBack: (attempt: Attempt<"waiting">) => void;

  constructor(
    ports: DelivererPorts,
    parts: SharedParts,
    giveBack: (attempt: Attempt<"waiting">) => void,
  ) {
    this.#ports = ports;
    this.#parts = parts;
    this.#giveBack = giveBack;
  }

  /**
   * Looks at the queue of a turn that ends, beside the write that ends it. The result is told after that write.
   * `mayClaim`: the next message may be claimed with its turn. Returns undefined when no turn ends.
   */
  lookBeside(settlement: Settlement, mayClaim: boolean): Look | undefined {
    const queue = queueOfEndedTurn(settlement);
    if (queue === undefined) return undefined;
    const { clock, log, queues } = this.#ports;
    const { promise: written, resolve: end } = Promise.withResolvers<void>();
    const askedAt = clock.passedMs();
    const isMine = mayClaim && this.#mayClaimFor(settlement.message.tenant);
    const owner = isMine ? this.#parts.owner : undefined;
    const looked = queues.admit([queue], { owner, written }).then(
      ([admitted]) => admitted && { ...admitted, askedAt },
      (error: unknown) => {
        log.warn("turn.kept", { queue, error });
        return undefined;
      },
    );
    return { looked, end };
  }

  /** Begins the next message of the queue, or hints at it. */
  async tell(look: Look | undefined): Promise<void> {
    const looked = await look?.looked;
    if (!looked) return;
    const { bus, clock, log } = this.#ports;
    const { claimed, queue } = looked;
    try {
      if (claimed) this.#take(claimed, looked.askedAt);
      await announceTurns(this.#ports, looked, (hints) => this.#parts.attempts.share(hints));
      if (hasMore(looked)) await bus.publish("scheduler.wake", [wakeLane(queue, clock.now())]);
    } catch (error) {
      log.warn("turn.kept", { queue, error });
    }
  }

  /** Reports whether a message of the tenant may be claimed with its turn. The slot is taken after that, as for a named message. */
  #mayClaimFor(tenant: TenantId): boolean {
    const { lines, permits } = this.#parts;
    const isOpen = !lines.isClosed && lines.isOpenToNamed;
    return isOpen && !permits.caps.isCapped(tenant) && permits.isFreeFor(tenant);
  }

  /** Begins the attempt of a message that was claimed with its turn, or gives it back: the deliverer may have begun to stop. */
  #take(record: InState<"claimed">, askedAt: number): void {
    const { acceptance, attempts, lines, telemetry } = this.#parts;
    const { clock } = this.#ports;
    const attempt = newAttempt(record, originHash(record.message.url), askedAt, clock);
    attempt.untold = acceptance.mayLack(record);
    const tookMs = clock.passedMs() - askedAt;
    traceClaim(telemetry.tracer, record, { tookMs, now: clock.now(), batch: 1 });
    if (!lines.isClosed) return attempts.addToLine(attempt);
    attempts.add(attempt);
    this.#giveBack(attempt);
  }
}
