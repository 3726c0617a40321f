/**
 * Makes the calls, from the slot to the outcome. Owned by the deliverer.
 *
 * (1) No byte is sent on a lease with less than some seconds left: the lease is renewed first, or there is no call.
 * (2) A message that was being called at too many crashes is called alone, or quarantined (docs/design/record#poisonous-messages).
 */
import {
  type InState,
  limits,
  type Outcome,
  postpone,
  quarantine,
  settleUnwanted,
} from "@posthaste/domain";
import { type Attempt, mayBegin } from "../attempts/attempt.ts";
import { Briefing } from "./briefing.ts";
import { type Compose } from "./compose.ts";
import { type Leases } from "../attempts/leases.ts";
import { type SharedParts } from "../parts.ts";
import { type DelivererPorts } from "../ports.ts";
import { ownFailure } from "../settling/report.ts";
import { type Settling } from "../settling/settling.ts";
import { Suspects } from "./suspects.ts";
import { startAttemptSpan, traceOf } from "../trace.ts";

export type CallOptions = {
  readonly compose: Compose;
  /** The largest history, in bytes, that is sent to an endpoint that can fetch its history. */
  readonly inlineHistoryBytesMax: number;
};

type CallParts = CallOptions &
  Pick<SharedParts, "telemetry"> & { readonly leases: Leases; readonly settling: Settling };

export class Calls {
  readonly #ports: DelivererPorts;
  readonly #parts: CallParts;
  readonly #briefing: Briefing;
  readonly #suspects: Suspects;
  #hasEnded = false;

  constructor(ports: DelivererPorts, parts: CallParts) {
    this.#ports = ports;
    this.#parts = parts;
    this.#suspects = new Suspects(ports.clock, parts.leases);
    this.#briefing = new Briefing(ports, parts.inlineHistoryBytesMax);
  }

  /** Calls an attempt that has a slot, or decides not to call it. */
  begin(attempt: Attempt<"calling">): void {
    const { record } = attempt;
    if (record.leaseLosses >= limits.quarantineAfter) {
      void this.#parts.settling.write(attempt, quarantine(record, this.#ports.clock.now()));
    } else if (record.leaseLosses >= limits.isolateAfter) {
      this.#isolate(attempt);
    } else if (record.message.flow !== undefined || record.message.run) {
      void this.#callInTurn(attempt);
    } else {
      this.#call(attempt, (outcome) => void this.#parts.settling.settle(attempt, outcome));
    }
  }

  /** Gives back the claims of the attempts that wait to be called alone. */
  giveBackSuspects(): void {
    for (const attempt of this.#suspects.end()) void this.#parts.settling.giveBack(attempt);
  }

  /** Makes no more calls. Called when the time to drain is over. */
  end(): void {
    this.#hasEnded = true;
  }

  #isolate(attempt: Attempt<"calling">): void {
    attempt.state.permit.giveSlotBack();
    if (this.#suspects.add(attempt, () => this.#callInTurn(attempt))) return;
    void this.#postpone(attempt, limits.isolatedLaterMs);
  }

  /** Calls once the token store confirms the lane's slot (docs/design/lanes#grants) and the run wants the delivery. */
  async #callInTurn(attempt: Attempt<"calling">): Promise<void> {
    const { clock } = this.#ports;
    const { settling } = this.#parts;
    const { record } = attempt;
    if (!(await this.#hasSlot(attempt))) return settling.giveBack(attempt);
    const briefed = await this.#briefing.of(attempt);
    if (briefed === "unwanted") return settling.write(attempt, settleUnwanted(record, clock.now()));
    if (briefed === "later") return this.#postpone(attempt, limits.heldUseMs);
    const outcome =
      briefed ?? (await new Promise<Outcome>((resolve) => this.#call(attempt, resolve)));
    await settling.settle(attempt, await this.#briefing.judged(record.message, outcome));
  }

  /** Resolves to whether the message has a slot of its lane, if it needs one. */
  async #hasSlot(attempt: Attempt): Promise<boolean> {
    const { flow, id } = attempt.record.message;
    if (flow === undefined) return true;
    try {
      return (await this.#ports.tokens.use(flow, [id])).length === 0;
    } catch (error) {
      this.#ports.log.warn("slot.unproven", { id, ...traceOf(attempt), error });
      return false;
    }
  }

  #postpone(attempt: Attempt<"calling">, forMs: number): Promise<void> {
    const now = this.#ports.clock.now();
    return this.#parts.settling.write(attempt, postpone(attempt.record, now, now + forMs));
  }

  #call(attempt: Attempt<"calling">, done: (outcome: Outcome) => void): void {
    const { state: call } = attempt;
    const [now, passedMs] = [this.#ports.clock.now(), this.#ports.clock.passedMs()];
    if (attempt.lost || this.#hasEnded) return done({ kind: "aborted" });
    if (!mayBegin(attempt, passedMs)) return void this.#callOnceProven(attempt, done);
    const tenant = this.#ports.tenants.get(attempt.tenant);
    if (!tenant) return void this.#callOnceKnown(attempt, done);
    try {
      call.startedAt = now;
      call.since = passedMs;
      attempt.span ??= startAttemptSpan(this.#parts.telemetry.tracer, attempt.record, { now });
      const { compose } = this.#parts;
      const request = compose(sentOf(attempt), tenant, now, attempt.span?.traceParent);
      call.sending = this.#ports.sender.send(request);
      call.permit.locate(call.sending.address);
    } catch (error) {
      return done(ownFailure(`the request could not be made: ${String(error)}`));
    }
    void call.sending.outcome.then(done);
  }

  /**
   * Renews a lease that is nearly over, then calls. The store tells when another process has the record by now, or
   * the message was cancelled. When the store does not answer in time, the claim is handed back: the renewal may
   * still arrive, and would keep the message from all other processes until that lease ends.
   */
  async #callOnceProven(
    attempt: Attempt<"calling">,
    done: (outcome: Outcome) => void,
  ): Promise<void> {
    await this.#parts.leases.renew([attempt], { begins: true });
    if (mayBegin(attempt, this.#ports.clock.passedMs())) this.#call(attempt, done);
    else done({ kind: "aborted" });
  }

  /** Looks the tenant up in the store, since it may be new. */
  async #callOnceKnown(
    attempt: Attempt<"calling">,
    done: (outcome: Outcome) => void,
  ): Promise<void> {
    const tenant = await this.#ports.tenants.find(attempt.tenant).catch(() => undefined);
    if (tenant) this.#call(attempt, done);
    else done(ownFailure("the tenant of this message is unknown"));
  }
}

/** Returns the record with the history of its run as the body. */
const sentOf = ({ record, state: { body } }: Attempt<"calling">): InState<"claimed"> =>
  body ? { ...record, message: { ...record.message, body } } : record;
