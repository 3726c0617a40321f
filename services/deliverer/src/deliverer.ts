/**
 * The deliverer: claim → call → settle. It owns the buffer of hints, the slots and the running attempts; leases.ts keeps
 * their leases.
 *
 * D1  It claims only for a slot that is free; what waits, waits in the store.
 * D2  Every write about an attempt is fenced by the claim's epoch (I4). A running call whose lease it cannot prove is
 *     aborted and nothing is written; the outcome of one that has ended is offered to the store however late it is.
 * D3  An attempt's outcome is written until the store has taken it or fenced it. Its slot is free as soon as the call
 *     has ended, as long as fewer than `settlingMax` outcomes wait to be written.
 */
import {
  giveBack,
  type InState,
  limits,
  type Message,
  type MessageId,
  originHash,
  type Outcome,
  type Owner,
  quarantine,
  settleAttempt,
  type Settlement,
  type TenantId,
} from "@posthaste/domain";
import { type FollowUpPorts, tellSettled, wakeLane } from "@posthaste/engine";
import {
  type Hint,
  type LocalDelivery,
  type Log,
  noTelemetry,
  type Random,
  type RetryDelays,
  type Sender,
  type Settled,
  type Telemetry,
  type TokenStore,
} from "@posthaste/ports";
import { type Attempt, lose, mustAbort, newAttempt } from "./attempt.ts";
import { HintBuffer } from "./buffer.ts";
import { type Compose } from "./compose.ts";
import { Leases } from "./leases.ts";
import { countAttempt } from "./report.ts";
import { type SlotBounds, Slots } from "./slots.ts";
import { endAttempt, startAttempt, traceClaim } from "./trace.ts";

export type DelivererPorts = FollowUpPorts & {
  readonly tokens: TokenStore;
  readonly sender: Sender;
  readonly random: Random;
  readonly retryDelays: RetryDelays;
  readonly log: Log;
  readonly telemetry?: Telemetry;
};

export type DelivererOptions = {
  readonly owner: Owner;
  readonly slots: SlotBounds;
  readonly compose: Compose;
  /** How long stopping waits for attempts before it hands them back. */
  readonly drainMs: number;
};

const buffered = { perOriginMax: 1_000, totalMax: 50_000 };
const claimBatchMax = 200;
const pullMax = 500;
/** Outcomes in memory that the store has not taken yet; beyond it nothing new is claimed. */
const settlingMax = 2_000;
const settleRetryMsMin = 50;
const settleRetryMsMax = 1_000;

export class Deliverer implements LocalDelivery {
  readonly name = "deliverer";
  readonly owner: Owner;
  readonly #ports: DelivererPorts;
  readonly #options: DelivererOptions;
  readonly #telemetry: Telemetry;
  readonly #slots: Slots;
  readonly #buffer = new HintBuffer(buffered);
  /** In order of their start. */
  readonly #running = new Map<MessageId, Attempt>();
  readonly #leases: Leases;
  /** Those that took their process down too often run one after another (decisions.md 14). */
  #isolated: Promise<void> = Promise.resolve();
  #unsubscribe: (() => Promise<void>) | undefined;
  /** Attempts whose call has ended and whose outcome is being written. */
  #settling = 0;
  /** Settled attempts whose consequences are being told. */
  #telling = 0;
  #claiming = false;
  #pulling = false;
  #stopping = false;
  /** The time to drain is up: nothing is called any more. */
  #handingBack = false;
  #onIdle: (() => void) | undefined;

  constructor(ports: DelivererPorts, options: DelivererOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#slots = new Slots(options.slots);
    this.owner = options.owner;
    this.#telemetry = ports.telemetry ?? noTelemetry;
    this.#telemetry.metrics.watch("posthaste_attempts_running", () => this.#running.size);
    this.#leases = new Leases(ports, {
      running: this.#running,
      lengthen: (attempt) => this.#lengthen(attempt),
      checked: () => this.#pump(),
    });
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#ports.bus.subscribe("message.due", "deliverer", async (hints) =>
      this.hear(hints),
    );
  }

  /** Claims nothing more, waits for what runs, then hands the rest back with its claim (P13). */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#unsubscribe?.();
    const timeUp = this.#ports.clock.after(this.#options.drainMs, () => this.#handBack());
    await this.#idle();
    timeUp();
    this.#leases.stop();
  }

  reserve(tenant: TenantId, origin: number): boolean {
    if (this.#stopping || this.#settling >= settlingMax) return false;
    if (!this.#slots.isFree(origin) || this.#buffer.hasWaiting(tenant, origin)) return false;
    this.#slots.take(origin);
    return true;
  }

  release(_tenant: TenantId, origin: number): void {
    this.#freeSlot(origin);
    this.#pump();
  }

  /** The lease began before the insert, however long that took. */
  run(record: InState<"claimed">): void {
    const leasedAt = record.state.leaseUntil - limits.leaseMs;
    const origin = originHash(record.message.url);
    this.#begin(newAttempt(record, origin, leasedAt, this.#ports.clock.now()));
  }

  abort(id: MessageId): void {
    const attempt = this.#running.get(id);
    if (attempt) lose(attempt);
  }

  // ---- from hint to claim

  /** Hints: look at these now. */
  hear(hints: readonly Hint[]): void {
    if (this.#stopping) return;
    for (const hint of hints) if (!this.#running.has(hint.id)) this.#buffer.add(hint);
    this.#pump();
  }

  /** Claims for the slots that are free, one batch at a time. */
  #pump(): void {
    if (this.#claiming || this.#stopping || this.#settling >= settlingMax) return;
    const taken: Hint[] = [];
    // An origin is asked for a slot only while the process has one: it would wait for one of its own to be freed, and it may have none.
    while (taken.length < claimBatchMax && this.#slots.anyFree) {
      const hint = this.#buffer.take((origin) => this.#slots.isFree(origin));
      if (!hint) break;
      this.#slots.take(hint.origin);
      taken.push(hint);
    }
    if (taken.length > 0) void this.#claim(taken);
    else if (this.#buffer.anyDropped) void this.#refill();
  }

  async #claim(hints: readonly Hint[]): Promise<void> {
    this.#claiming = true;
    const askedAt = this.#ports.clock.now();
    const unclaimed = new Map(hints.map((hint) => [hint.id, hint]));
    try {
      const claimed = await this.#ports.messages.claim([...unclaimed.keys()], this.owner);
      for (const record of claimed) {
        const hint = unclaimed.get(record.message.id);
        if (!hint) continue;
        unclaimed.delete(record.message.id);
        const now = this.#ports.clock.now();
        traceClaim(this.#telemetry.tracer, record, { askedAt, now, batch: hints.length });
        this.#begin(newAttempt(record, hint.origin, askedAt, now));
      }
    } catch (error) {
      this.#ports.log.warn("claim.failed", { error, hints: hints.length });
    }
    for (const hint of unclaimed.values()) this.#freeSlot(hint.origin);
    this.#claiming = false;
    this.#pump();
    this.#endIfIdle();
  }

  /** What was dropped is in the store: the oldest of each tenant that has run dry, apart from origins that are full. */
  async #refill(): Promise<void> {
    if (this.#pulling || !this.#slots.anyFree) return;
    this.#pulling = true;
    let found = 0;
    try {
      for (const { tenant, blocked } of this.#buffer.drained()) {
        const hints = await this.#ports.messages.pull(tenant, pullMax, blocked);
        const fresh = hints.filter((hint) => !this.#running.has(hint.id));
        this.#buffer.pulled(tenant, fresh, {
          except: blocked.length,
          more: hints.length >= pullMax && fresh.length > 0,
        });
        found += fresh.length;
      }
    } catch (error) {
      this.#ports.log.warn("pull.failed", { error });
    }
    this.#pulling = false;
    if (found > 0) this.#pump();
  }

  // ---- the call

  /** The slot is taken and the record is ours. */
  #begin(attempt: Attempt): void {
    const { record } = attempt;
    this.#running.set(record.message.id, attempt);
    this.#leases.keep();
    if (record.leaseLosses >= limits.quarantineAfter) {
      void this.#write(attempt, quarantine(record, this.#ports.clock.now()));
    } else if (record.leaseLosses >= limits.isolateAfter) {
      this.#isolated = this.#isolated.then(() => this.#callInLane(attempt));
    } else if (record.message.flowLane !== undefined) {
      void this.#callInLane(attempt);
    } else {
      this.#call(attempt, (outcome) => void this.#settle(attempt, outcome));
    }
  }

  /** The lane's slot must still be ours before the first byte (decisions.md 11). */
  async #callInLane(attempt: Attempt): Promise<void> {
    const { message } = attempt.record;
    try {
      if (message.flowLane !== undefined) {
        const gone = await this.#ports.tokens.renew(message.flowLane, [message.id]);
        if (gone.length > 0)
          return await this.#write(attempt, giveBack(attempt.record, this.#ports.clock.now()));
      }
    } catch (error) {
      this.#ports.log.warn("slot.unproven", { id: message.id, error });
      return this.#write(attempt, giveBack(attempt.record, this.#ports.clock.now()));
    }
    const outcome = await new Promise<Outcome>((resolve) => this.#call(attempt, resolve));
    await this.#settle(attempt, outcome);
  }

  #call(attempt: Attempt, done: (outcome: Outcome) => void): void {
    // The claim's answer may have been long under way, or this process asleep: another may have the record by now.
    if (mustAbort(attempt, this.#ports.clock.now())) attempt.lost = true;
    if (attempt.lost || this.#handingBack) {
      done({ kind: "aborted" });
      return;
    }
    try {
      const now = this.#ports.clock.now();
      attempt.span = startAttempt(this.#telemetry.tracer, attempt.record, now);
      const request = this.#options.compose(attempt.record, now, attempt.span?.traceParent);
      if (!request) return done(ourFault("the tenant of this message is not known here"));
      attempt.sending = this.#ports.sender.send(request);
    } catch (error) {
      return done(ourFault(`the request could not be made: ${String(error)}`));
    }
    void attempt.sending.outcome.then(done);
  }

  // ---- the settle

  #settle(attempt: Attempt, outcome: Outcome): Promise<void> {
    const { record } = attempt;
    const { message } = record;
    endAttempt(attempt.span, outcome);
    if (attempt.lost) {
      this.#giveSlotBack(attempt);
      this.#end(attempt);
      return Promise.resolve();
    }
    const inputs = {
      chance: this.#ports.random.fraction(),
      retryDelayMs:
        message.policy.retryDelay === undefined
          ? undefined
          : this.#ports.retryDelays.delayMs(message.policy.retryDelay, record.retried),
    };
    const { startedAt } = attempt;
    const settlement = settleAttempt(
      record,
      { startedAt, endedAt: this.#ports.clock.now(), outcome },
      inputs,
    );
    this.#report(attempt, outcome, settlement);
    return this.#write(attempt, settlement);
  }

  async #write(attempt: Attempt, settlement: Settlement): Promise<void> {
    this.#settling += 1;
    this.#giveSlotBack(attempt);
    const settled = await this.#writeUntilTaken(attempt, settlement);
    this.#settling -= 1;
    this.#telling += 1;
    this.#end(attempt);
    if (settled?.kind === "ok") await this.#tellTraced(attempt, settlement, settled);
    this.#telling -= 1;
    this.#endIfIdle();
  }

  async #writeUntilTaken(attempt: Attempt, settlement: Settlement): Promise<Settled | undefined> {
    for (
      let waitMs = settleRetryMsMin;
      !attempt.lost;
      waitMs = Math.min(waitMs * 2, settleRetryMsMax)
    ) {
      try {
        const [settled] = await this.#ports.messages.settle([settlement]);
        return settled;
      } catch (error) {
        this.#ports.log.warn("settle.failed", { id: settlement.message.id, error });
        await new Promise<void>((resolve) => this.#ports.clock.after(waitMs, resolve));
      }
    }
    return undefined;
  }

  /** Outside every trace, if this attempt is in none: what set it going may have been another's. */
  #tellTraced(
    attempt: Attempt,
    settlement: Settlement,
    settled: Extract<Settled, { kind: "ok" }>,
  ): Promise<void> {
    const { tracer } = this.#telemetry;
    if (!tracer.isOn) return this.#tell(attempt, settlement, settled);
    return tracer.within(attempt.span?.traceParent, () => this.#tell(attempt, settlement, settled));
  }

  async #tell(
    attempt: Attempt,
    settlement: Settlement,
    { left }: Extract<Settled, { kind: "ok" }>,
  ): Promise<void> {
    const { message, next } = settlement;
    const { id } = attempt.record.message;
    // Nothing is lost when one of these fails: outbox and alarms are in the store, and a slot runs out with its lease.
    const postponed = (event: string) => (error: unknown) =>
      this.#ports.log.warn(event, { id, error });
    const fact = settlement.append.find((item) => item.kind === "fact");
    await Promise.all([
      this.#moveOn(message, next).catch(postponed("slot.kept")),
      left.length > 0 &&
        tellSettled(this.#ports, { message, items: left, fact }).catch(
          postponed("follow-up.postponed"),
        ),
    ]);
  }

  /** Gives the slot back, and tells the scheduler what it may look at. */
  async #moveOn({ id, shard, flowLane }: Message, next: Settlement["next"]): Promise<void> {
    const { bus, clock, tokens } = this.#ports;
    if (next.kind === "held") await bus.publish("scheduler.wake", [{ shard, at: next.dueAt }]);
    if (flowLane === undefined) return;
    try {
      await tokens.release(flowLane, [id]);
    } finally {
      await bus.publish("scheduler.wake", [wakeLane(flowLane, clock.now())]);
    }
  }

  #report({ record, startedAt }: Attempt, outcome: Outcome, settlement: Settlement): void {
    const { log, clock } = this.#ports;
    countAttempt(this.#telemetry.metrics, record.message, outcome, clock.now());
    if (outcome.kind === "infrastructure") {
      log.warn("attempt.deferred", {
        id: record.message.id,
        code: outcome.code,
        reason: outcome.text,
      });
    }
    if (!log.debugs) return;
    log.debug("attempt.ended", {
      id: record.message.id,
      tenant: record.message.tenant,
      retried: record.retried,
      epoch: record.epoch,
      outcome: outcome.kind,
      status: outcome.kind === "answered" ? outcome.status : undefined,
      state: settlement.next.kind,
      elapsedMs: clock.now() - startedAt,
    });
  }

  #end(attempt: Attempt): void {
    const { id } = attempt.record.message;
    if (this.#running.get(id) === attempt) this.#running.delete(id);
    this.#pump();
    this.#endIfIdle();
  }

  #giveSlotBack(attempt: Attempt): void {
    if (attempt.slot === "long") this.#slots.freeLong();
    if (attempt.slot === "short") this.#freeSlot(attempt.origin);
    attempt.slot = "none";
  }

  #freeSlot(origin: number): void {
    this.#slots.free(origin);
    this.#buffer.unblock(origin);
  }

  /** A call that runs for long leaves its place to others; it keeps it when the long pool is full. */
  #lengthen(attempt: Attempt): void {
    if (!this.#slots.lengthen(attempt.origin)) return;
    attempt.slot = "long";
    this.#buffer.unblock(attempt.origin);
  }

  // ---- stopping

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#endIfIdle();
    });
  }

  /** A claim on its way may still begin attempts, and what is not yet told would find its bus and stores closed. */
  #endIfIdle(): void {
    if (this.#running.size === 0 && this.#telling === 0 && !this.#claiming) this.#onIdle?.();
  }

  #handBack(): void {
    this.#handingBack = true;
    for (const attempt of this.#running.values()) attempt.sending?.abort();
  }
}

const ourFault = (text: string): Outcome => ({ kind: "infrastructure", code: "internal", text });
