/**
 * The deliverer: claim → call → settle. It owns the buffer of hints, the slots and the running attempts; leases.ts keeps
 * their leases, settling.ts writes what comes of them.
 *
 * D1  It claims only for a slot that is free; what waits, waits in the store. Those that their inserts have claimed may
 *     find that others were faster: they wait here (ready.ts).
 * D2  Every write about an attempt is fenced by the claim's epoch (I4). A running call whose lease it cannot prove is
 *     aborted and nothing is written; the outcome of one that has ended is offered to the store however late it is.
 * D3  An attempt's outcome is written until the store has taken it or fenced it. Its slot is free as soon as the call
 *     has ended, as long as fewer than `settlingMax` outcomes wait to be written.
 */
import {
  giveBack,
  type InState,
  limits,
  type MessageId,
  originHash,
  type Outcome,
  type Owner,
  quarantine,
  type Settlement,
  type TenantId,
  TurnoverMap,
} from "@posthaste/domain";
import {
  type Hint,
  type LocalDelivery,
  noTelemetry,
  type Sender,
  type Telemetry,
} from "@posthaste/ports";
import { type Attempt, lose, mustAbort, newAttempt } from "./attempt.ts";
import { HintBuffer } from "./buffer.ts";
import { type Compose } from "./compose.ts";
import { Leases } from "./leases.ts";
import { Ready } from "./ready.ts";
import { Settling, type SettlingPorts } from "./settling.ts";
import { type SlotBounds, Slots } from "./slots.ts";
import { startAttempt, traceClaim } from "./trace.ts";

export type DelivererPorts = SettlingPorts & {
  readonly sender: Sender;
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

export class Deliverer implements LocalDelivery {
  readonly name = "deliverer";
  readonly owner: Owner;
  readonly #ports: DelivererPorts;
  readonly #options: DelivererOptions;
  readonly #telemetry: Telemetry;
  readonly #slots: Slots;
  readonly #buffer = new HintBuffer(buffered);
  /** With those that are ready for their start. */
  readonly #running = new TurnoverMap<MessageId, Attempt>();
  readonly #ready = new Ready();
  readonly #leases: Leases;
  readonly #settling: Settling;
  /** Those that took their process down too often run one after another (decisions.md 14). */
  #isolated: Promise<void> = Promise.resolve();
  #unsubscribe: (() => Promise<void>) | undefined;
  #starting = false;
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
    this.#settling = new Settling(ports, {
      telemetry: this.#telemetry,
      called: (attempt) => this.#giveSlotBack(attempt),
      ended: (attempt) => this.#end(attempt),
      told: () => this.#endIfIdle(),
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
    if (this.#stopping || this.#settling.writing >= settlingMax) return false;
    if (this.#buffer.hasWaiting(tenant, origin)) return false;
    return this.#slots.reserve(origin);
  }

  release(_tenant: TenantId, origin: number): void {
    this.#slots.unreserve(origin);
  }

  /** The lease began before the insert, however long that took. */
  run(record: InState<"claimed">): void {
    const leasedAt = record.state.leaseUntil - limits.leaseMs;
    const origin = originHash(record.message.url);
    const attempt = newAttempt(record, origin, leasedAt, this.#ports.clock.now(), "none");
    this.#keep(attempt);
    // Whoever waits for nobody stands in no line: an emptied one costs a table each time (ADR 11).
    const isNext = !this.#starting && !this.#ready.has(origin);
    if (isNext && this.#mayStart && this.#slots.isFree(origin)) this.#startReserved(attempt);
    else this.#ready.add(attempt);
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

  /** Gives the slots that are free to those that are ready, then claims for the others, one batch at a time. */
  #pump(): void {
    this.#startReady();
    if (this.#claiming || this.#stopping || this.#settling.writing >= settlingMax) return;
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
        const attempt = newAttempt(record, hint.origin, askedAt, now);
        this.#keep(attempt);
        this.#start(attempt);
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

  /** The record is ours. */
  #keep(attempt: Attempt): void {
    this.#running.set(attempt.record.message.id, attempt);
    this.#leases.keep();
  }

  /** Not inside itself: one that may not be called ends at once, and the next is taken by the loop that took it. */
  #startReady(): void {
    if (this.#starting) return;
    this.#starting = true;
    while (this.#mayStart) {
      const attempt = this.#ready.take((origin) => this.#slots.isFree(origin));
      if (!attempt) break;
      this.#startReserved(attempt);
    }
    this.#starting = false;
  }

  get #mayStart(): boolean {
    return this.#settling.writing < settlingMax && this.#slots.anyFree;
  }

  /** A slot of its origin is free. */
  #startReserved(attempt: Attempt): void {
    this.#slots.unreserve(attempt.origin);
    this.#slots.take(attempt.origin);
    attempt.slot = "short";
    this.#start(attempt);
  }

  /** It has a slot. */
  #start(attempt: Attempt): void {
    const { record } = attempt;
    if (record.leaseLosses >= limits.quarantineAfter) {
      void this.#settling.write(attempt, quarantine(record, this.#ports.clock.now()));
    } else if (record.leaseLosses >= limits.isolateAfter) {
      this.#isolated = this.#isolated.then(() => this.#callInLane(attempt));
    } else if (record.message.flowLane !== undefined) {
      void this.#callInLane(attempt);
    } else {
      this.#call(attempt, (outcome) => void this.#settling.settle(attempt, outcome));
    }
  }

  /** The lane's slot must still be ours before the first byte (decisions.md 11). */
  async #callInLane(attempt: Attempt): Promise<void> {
    const { message } = attempt.record;
    try {
      if (message.flowLane !== undefined) {
        const gone = await this.#ports.tokens.renew(message.flowLane, [message.id]);
        if (gone.length > 0) return await this.#settling.write(attempt, this.#givenBack(attempt));
      }
    } catch (error) {
      this.#ports.log.warn("slot.unproven", { id: message.id, error });
      return this.#settling.write(attempt, this.#givenBack(attempt));
    }
    const outcome = await new Promise<Outcome>((resolve) => this.#call(attempt, resolve));
    await this.#settling.settle(attempt, outcome);
  }

  #call(attempt: Attempt, done: (outcome: Outcome) => void): void {
    const now = this.#ports.clock.now();
    // The claim's answer may have been long under way, or this process asleep: another may have the record by now.
    if (mustAbort(attempt, now)) attempt.lost = true;
    if (attempt.lost || this.#handingBack) {
      done({ kind: "aborted" });
      return;
    }
    try {
      attempt.startedAt = now;
      attempt.span = startAttempt(this.#telemetry.tracer, attempt.record, now);
      const request = this.#options.compose(attempt.record, now, attempt.span?.traceParent);
      if (!request) return done(ourFault("the tenant of this message is not known here"));
      attempt.sending = this.#ports.sender.send(request);
    } catch (error) {
      return done(ourFault(`the request could not be made: ${String(error)}`));
    }
    void attempt.sending.outcome.then(done);
  }

  #givenBack({ record }: Attempt): Settlement {
    return giveBack(record, this.#ports.clock.now());
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
    this.#startReady();
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
    if (this.#running.size === 0 && !this.#settling.isTelling && !this.#claiming) this.#onIdle?.();
  }

  #handBack(): void {
    this.#handingBack = true;
    for (const attempt of this.#running.values()) attempt.sending?.abort();
  }
}

const ourFault = (text: string): Outcome => ({ kind: "infrastructure", code: "internal", text });
