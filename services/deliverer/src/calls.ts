/**
 * From a slot to the outcome of a call. Owned by the deliverer.
 *
 * (1) No byte is written on a lease that cannot be relied on for some seconds: it is renewed first, or nothing is called.
 * (2) What took its process down too often is called alone, or not at all (docs/design/record#poisonous-messages).
 */
import {
  giveBack,
  type InState,
  limits,
  type Outcome,
  over,
  postpone,
  quarantine,
  type TenantId,
} from "@posthaste/domain";
import {
  type Clock,
  type Log,
  type Records,
  type RunStore,
  type Sender,
  type Telemetry,
  type TokenStore,
} from "@posthaste/ports";
import { Alone } from "./alone.ts";
import { type Attempt, mayBegin, tenantOf } from "./attempt.ts";
import { Briefing } from "./briefing.ts";
import { type Compose } from "./compose.ts";
import { judged } from "./judged.ts";
import { type Leases } from "./leases.ts";
import { ourFault } from "./report.ts";
import { type Settling } from "./settling.ts";
import { startAttempt } from "./trace.ts";

export type CallPorts = {
  readonly records: Pick<Records, "get" | "renew">;
  readonly sender: Sender;
  readonly tokens: Pick<TokenStore, "use">;
  readonly runs: RunStore;
  readonly clock: Clock;
  readonly log: Log;
};

export type CallParts = {
  readonly compose: Compose;
  /** Whether a tenant that `compose` does not know is there after all: it may have been made a moment ago. */
  readonly findTenant: (id: TenantId) => Promise<boolean>;
  /** Of a history that is sent to an endpoint that can fetch it. */
  readonly inlineHistoryBytesMax: number;
  readonly tracer: Telemetry["tracer"];
  readonly leases: Pick<Leases, "prove">;
  readonly settling: Pick<Settling, "settle" | "write">;
  /** Where it goes may be known now. */
  readonly located: (attempt: Attempt) => void;
  /** It needs no slot any more. */
  readonly waitsAlone: (attempt: Attempt) => void;
};

export class Calls {
  readonly #ports: CallPorts;
  readonly #parts: CallParts;
  readonly #briefing: Briefing;
  readonly #alone: Alone;
  #hasEnded = false;

  constructor(ports: CallPorts, parts: CallParts) {
    this.#ports = ports;
    this.#parts = parts;
    this.#alone = new Alone(ports);
    this.#briefing = new Briefing(ports, parts.inlineHistoryBytesMax);
  }

  /** It has a slot. */
  begin(attempt: Attempt): void {
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

  /** What waits to be called alone is given back: this process stops. */
  stop(): void {
    for (const attempt of this.#alone.end())
      void this.#parts.settling.write(attempt, giveBack(attempt.record, this.#ports.clock.now()));
  }

  /** Nothing is called any more: the time to drain is up. */
  end(): void {
    this.#hasEnded = true;
  }

  #isolate(attempt: Attempt): void {
    this.#parts.waitsAlone(attempt);
    if (this.#alone.add(attempt, () => this.#callInTurn(attempt))) return;
    const now = this.#ports.clock.now();
    const later = postpone(attempt.record, now, now + limits.isolatedLaterMs);
    void this.#parts.settling.write(attempt, later);
  }

  /** The lane's slot must still be ours before the first byte (docs/design/lanes#grants), and its run must want it. */
  async #callInTurn(attempt: Attempt): Promise<void> {
    const { message } = attempt.record;
    try {
      if (message.flow !== undefined) {
        const gone = await this.#ports.tokens.use(message.flow, [message.id]);
        if (gone.length > 0)
          return await this.#parts.settling.write(
            attempt,
            giveBack(attempt.record, this.#ports.clock.now()),
          );
      }
    } catch (error) {
      this.#ports.log.warn("slot.unproven", { id: message.id, error });
      return this.#parts.settling.write(attempt, giveBack(attempt.record, this.#ports.clock.now()));
    }
    const briefed = await this.#briefing.of(attempt);
    if (briefed === "over")
      return this.#parts.settling.write(attempt, over(attempt.record, this.#ports.clock.now()));
    if (briefed === "later") {
      const now = this.#ports.clock.now();
      const later = postpone(attempt.record, now, now + limits.heldUseMs);
      return this.#parts.settling.write(attempt, later);
    }
    const outcome =
      briefed ?? (await new Promise<Outcome>((resolve) => this.#call(attempt, resolve)));
    await this.#parts.settling.settle(attempt, await judged(this.#ports, message, outcome));
  }

  #call(attempt: Attempt, done: (outcome: Outcome) => void): void {
    const [now, passedMs] = [this.#ports.clock.now(), this.#ports.clock.passedMs()];
    if (attempt.lost || this.#hasEnded) return done({ kind: "aborted" });
    if (!mayBegin(attempt, passedMs)) return void this.#callOnceProven(attempt, done);
    try {
      attempt.startedAt = now;
      attempt.callingSince = passedMs;
      attempt.isCalling = true;
      attempt.span ??= startAttempt(this.#parts.tracer, attempt.record, now);
      const request = this.#parts.compose(sentOf(attempt), now, attempt.span?.traceParent);
      if (!request) return void this.#callOnceKnown(attempt, done);
      attempt.sending = this.#ports.sender.send(request);
      this.#parts.located(attempt);
    } catch (error) {
      return done(ourFault(`the request could not be made: ${String(error)}`));
    }
    void attempt.sending.outcome.then(done);
  }

  /**
   * Its lease is renewed first: too little is left of it, or it was cancelled while it waited. Where another process may have
   * the record by now (the claim's answer was long under way, this process asleep), the store says so. What it does not say in
   * time is handed back: a renewal that is under way may still hold the claim, and no other process would look at it before
   * that runs out.
   */
  async #callOnceProven(attempt: Attempt, done: (outcome: Outcome) => void): Promise<void> {
    await this.#parts.leases.prove(attempt);
    if (mayBegin(attempt, this.#ports.clock.passedMs())) this.#call(attempt, done);
    else done({ kind: "aborted" });
  }

  async #callOnceKnown(attempt: Attempt, done: (outcome: Outcome) => void): Promise<void> {
    const isThere = await this.#parts.findTenant(tenantOf(attempt)).catch(() => false);
    if (isThere) this.#call(attempt, done);
    else done(ourFault("the tenant of this message is not known here"));
  }
}

/** With the body that it is to have. */
const sentOf = ({ body, record }: Attempt): InState<"claimed"> =>
  body ? { ...record, message: { ...record.message, body } } : record;
