/**
 * The deliverer: claim → call → settle. It owns the slots and the running attempts; claiming.ts brings what is to be
 * called, calls.ts calls, leases.ts keeps the leases, settling.ts writes the outcomes.
 *
 * (1) A call has a slot. A message that its own insert has claimed may find that its slot was taken meanwhile: it waits
 *     here (ready.ts).
 * (2) Every write about an attempt is fenced by the claim's epoch (I4). A running call whose lease it cannot prove is
 *     aborted and nothing is written; the outcome of one that has ended is offered to the store however late it is.
 * (3) An attempt's outcome is written until the store has taken it or fenced it. Its slot is free as soon as the call
 *     has ended, as long as not too many outcomes, or bytes of answers, wait to be written.
 */
import {
  giveBack,
  type InState,
  type MessageId,
  originHash,
  type Owner,
  sentBytes,
  type TenantId,
  TurnoverMap,
} from "@posthaste/domain";
import { announceTraced, hintOf } from "@posthaste/engine";
import { type Hint, type LocalDelivery, noTelemetry, type Telemetry } from "@posthaste/ports";
import { type Attempt, lose, leasedAtOf, namedAttempt, newAttempt, tenantOf } from "./attempt.ts";
import { BodyBytes, countedBytes, reservedBytes } from "./body-bytes.ts";
import { type CallParts, type CallPorts, Calls } from "./calls.ts";
import { type CapOf, Caps } from "./caps.ts";
import { Claiming } from "./claiming.ts";
import { Leases } from "./leases.ts";
import { Named } from "./named.ts";
import { Presence, type PresencePorts } from "./presence.ts";
import { Ready } from "./ready.ts";
import { Settling, type SettlingOptions, type SettlingPorts } from "./settling.ts";
import { type SlotBounds, Slots } from "./slots.ts";
import { traceTaking } from "./trace.ts";

export type DelivererPorts = SettlingPorts &
  CallPorts &
  Pick<PresencePorts, "roster"> & { readonly telemetry?: Telemetry };

export type DelivererOptions = Pick<
  CallParts,
  "compose" | "findTenant" | "inlineHistoryBytesMax"
> & {
  readonly owner: Owner;
  readonly slots: SlotBounds;
  /** Bytes of bodies in flight. */
  readonly bodyBytesMax: number;
  readonly capOf: CapOf;
  /**
   * Whose messages are looked for at the start: what has gone with another process' buffer waits for its alarm, or for
   * this. Absent where the store rings anew at its start.
   */
  readonly tenants?: () => readonly TenantId[];
  readonly failed?: SettlingOptions["failed"];
  /** How long stopping waits for attempts before it hands them back. */
  readonly drainMs: number;
};

export class Deliverer implements LocalDelivery {
  readonly name = "deliverer";
  readonly owner: Owner;
  readonly #ports: DelivererPorts;
  readonly #options: DelivererOptions;
  readonly #telemetry: Telemetry;
  readonly #slots: Slots;
  readonly #bodyBytes: BodyBytes;
  readonly #caps: Caps;
  readonly #claiming: Claiming;
  /** With those that are ready for their start. */
  readonly #running = new TurnoverMap<MessageId, Attempt>();
  readonly #ready = new Ready();
  readonly #leases: Leases;
  readonly #settling: Settling;
  readonly #calls: Calls;
  readonly #named: Named;
  readonly #presence: Presence;
  #unsubscribe: (() => Promise<void>) | undefined;
  #starting = false;
  #stopping = false;
  #onIdle: (() => void) | undefined;

  constructor(ports: DelivererPorts, options: DelivererOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#slots = new Slots(options.slots);
    this.#bodyBytes = new BodyBytes(options.bodyBytesMax, this.#slots);
    this.owner = options.owner;
    this.#telemetry = ports.telemetry ?? noTelemetry;
    this.#telemetry.metrics.watch("posthaste_attempts_running", () => this.#running.size);
    this.#telemetry.metrics.watch("posthaste_attempts_body_bytes", () => this.#bodyBytes.inFlight);
    this.#telemetry.metrics.watch(
      "posthaste_attempts_waiting",
      () => this.#claiming.waitingForSlot,
    );
    this.#caps = new Caps(ports, { ...options, freed: () => this.#pump() });
    this.#claiming = new Claiming(ports, {
      owner: this.owner,
      tracer: this.#telemetry.tracer,
      slots: this.#slots,
      bodyBytes: this.#bodyBytes,
      caps: this.#caps,
      waitsForEnd: (hint) => this.#waitForEnd(hint),
      mayClaim: () => !this.#stopping && !this.#settling.isFull,
      claimed: (attempt) => {
        attempt.untold ||= this.#mayBeUntold(attempt);
        this.#keep(attempt);
        this.#calls.begin(attempt);
      },
      capped: () => this.#leases.keep(),
      ended: () => this.#goOn(),
      found: () => this.#pump(),
    });
    this.#leases = new Leases(ports, {
      running: this.#running,
      lost: (attempt) => {
        lose(attempt);
        this.#settling.freeLane(attempt);
      },
      locate: (attempt) => this.#locate(attempt),
      waits: (attempt) => this.#wait(attempt),
      tell: (attempts) => this.#tellAccepted(attempts),
      lengthen: (attempt) => this.#lengthen(attempt),
      holdCaps: (attempts) => this.#caps.hold(attempts.map(({ record }) => record.message)),
      checked: () => {
        this.#claiming.unblockSome();
        this.#pump();
        this.#presence.looked();
      },
      anyWaiting: () => this.#claiming.waiting > 0 && !this.#stopping,
    });
    this.#presence = new Presence(ports, { owner: this.owner, isOpen: () => this.#isOpen });
    this.#named = new Named(ports.clock, {
      owner: this.owner,
      metrics: this.#telemetry.metrics,
      isRunning: (id) => this.#running.has(id),
      take: (record) => this.#takeNamed(record),
      handBack: (record) => this.#handNamedBack(namedAttempt(record, ports.clock)),
      leave: (record) => this.#announceAccepted([record]),
      due: (hints) => this.hear(hints),
    });
    this.#settling = new Settling(ports, {
      telemetry: this.#telemetry,
      called: (attempt) => {
        this.#giveSlotBack(attempt);
        this.#caps.free(tenantOf(attempt), attempt.record.message.id);
      },
      ended: (attempt) => this.#end(attempt),
      forgotten: (attempt) => this.#forget(attempt),
      told: () => this.#goOn(),
      due: (hints) => this.#share(hints),
      untold: (attempt) => this.#tellAccepted([attempt]),
      failed: options.failed,
    });
    this.#calls = new Calls(ports, {
      ...options,
      tracer: this.#telemetry.tracer,
      leases: this.#leases,
      settling: this.#settling,
      located: (attempt) => this.#locate(attempt),
      waitsAlone: (attempt) => this.#giveSlotBack(attempt),
    });
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#ports.bus.subscribe(
      "message.due",
      "deliverer",
      async (hints) => this.hear(hints),
      { assigned: (partitions) => this.#presence.assigned(partitions) },
    );
    this.#presence.start();
    for (const tenant of this.#options.tenants?.() ?? []) this.#claiming.expect(tenant);
    this.#pump();
  }

  /** Claims nothing more, tells the other deliverers what waits here, waits for what runs, then hands the rest back with its claim (docs/design/outages#stopping). */
  async stop(): Promise<void> {
    const timeUp = this.#ports.clock.after(this.#options.drainMs, () => this.#handBack());
    await this.#presence.leave();
    this.#stopping = true;
    this.#named.stop();
    await this.#unsubscribe?.();
    const { claimed, hints } = this.#claiming.giveAll();
    for (const attempt of claimed) this.#handNamedBack(attempt);
    this.#calls.stop();
    // Without a hint a message waits for its alarm, which may be ten minutes ahead.
    await this.#ports.bus.publish("message.due", hints);
    await this.#idle();
    timeUp();
    this.#leases.stop();
    this.#settling.stop();
  }

  reserve(tenant: TenantId, origin: number, bodyBytes: number): boolean {
    if (this.#stopping || this.#settling.isFull || this.#caps.mayHave(tenant)) return false;
    const counted = countedBytes(bodyBytes);
    if (this.#claiming.isAheadOf(tenant, origin, counted)) return false;
    if (!this.#bodyBytes.fit(tenant, origin, counted)) return false;
    if (!this.#slots.reserve(tenant, origin)) return false;
    this.#bodyBytes.reserve(tenant, counted);
    return true;
  }

  release(tenant: TenantId, origin: number, bodyBytes: number): void {
    this.#slots.unreserve(tenant, origin);
    const counted = reservedBytes(tenant, countedBytes(bodyBytes));
    this.#claiming.freeBytes(counted);
    // A reservation holds no slot, but it does hold bytes: a hint may wait for them.
    if (counted) this.#pump();
  }

  /** The lease began before the insert, however long that took. */
  run(record: InState<"claimed">): void {
    const leasedAt = leasedAtOf(record, this.#ports.clock);
    const { tenant, url } = record.message;
    const origin = originHash(url);
    const counted = reservedBytes(tenant, countedBytes(sentBytes(record.message)));
    const held = { slot: undefined, counted };
    const attempt = newAttempt(record, origin, leasedAt, this.#ports.clock, held);
    this.#keep(attempt);
    // What need not wait joins no line: an emptied one costs a table each time (ADR 11).
    const isNext = !this.#starting && !this.#ready.has(tenant, origin);
    if (isNext && this.#mayStart && this.#slots.isFree(tenant, origin))
      this.#startReserved(attempt);
    else this.#ready.add(attempt);
  }

  /** Calls of a tenant that are under way here. */
  running(tenant: TenantId): number {
    return this.#slots.heldBy(tenant);
  }

  abort(id: MessageId): boolean {
    const attempt = this.#running.get(id);
    if (attempt) lose(attempt);
    return attempt !== undefined;
  }

  // ---- from hint to claim

  /** Hints: look at these now. */
  hear(hints: readonly Hint[]): void {
    this.#claiming.add(this.#named.hear(hints));
    this.#pump();
    this.#presence.grew();
  }

  /** Gateways may name this deliverer: what it holds already is little. */
  get #isOpen(): boolean {
    return (
      !this.#stopping &&
      !this.#settling.isFull &&
      this.#ports.bus.hears("message.due") &&
      this.#claiming.isOpenToNamed
    );
  }

  /** Its insert has claimed it for this deliverer. What there is no room for goes back: any deliverer may claim it. */
  #takeNamed(record: InState<"claimed">): void {
    const { clock } = this.#ports;
    const attempt = namedAttempt(record, clock);
    const mayTake = !this.#stopping && !this.#caps.mayHave(tenantOf(attempt));
    if (!mayTake) return this.#handNamedBack(attempt);
    traceTaking(this.#telemetry.tracer, record, clock.now());
    this.#keep(attempt);
    if (this.#claiming.takeNamed(hintOf(record), attempt))
      this.#telemetry.metrics.count("posthaste_named_hints_total", "taken");
    else this.#handNamedBack(attempt);
  }

  #handNamedBack(attempt: Attempt): void {
    this.#telemetry.metrics.count("posthaste_named_hints_total", "handedBack");
    this.#keep(attempt);
    void this.#settling.write(attempt, giveBack(attempt.record, this.#ports.clock.now()));
  }

  /** What its insert has claimed was said to no log; an earlier owner of this one may have died before it was. */
  #mayBeUntold({ record: { epoch, message, retried } }: Attempt): boolean {
    return this.#ports.roster !== undefined && epoch > 1 && retried === 0 && !message.run;
  }

  /** What is still under way, or has ended without a word to the log, is said now; or later, if the bus is away. */
  #tellAccepted(attempts: readonly Attempt[]): void {
    if (!this.#ports.bus.isUp()) return;
    for (const attempt of attempts) attempt.untold = false;
    this.#announceAccepted(attempts.map(({ record }) => record));
  }

  #announceAccepted(records: readonly InState<"claimed">[]): void {
    announceTraced(this.#ports, this.#telemetry.tracer, records).catch(() => undefined);
  }

  /** Hears what it has a slot for. The rest is for any deliverer: no queue stands behind one that is full. */
  async #share(hints: readonly Hint[]): Promise<void> {
    const isMine = ({ tenant, origin }: Hint): boolean =>
      !this.#stopping && this.#slots.isFree(tenant, origin);
    const theirs = hints.filter((hint) => !isMine(hint));
    this.hear(hints.filter(isMine));
    if (theirs.length > 0) await this.#ports.bus.publish("message.due", theirs);
  }

  /** Gives the slots that are free to the attempts that are ready, then claims for the rest. */
  #pump(): void {
    this.#startReady();
    this.#claiming.next();
  }

  #goOn(): void {
    this.#pump();
    this.#endIfIdle();
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
      const attempt = this.#ready.take((tenant, origin) => this.#slots.isFree(tenant, origin));
      if (!attempt) break;
      this.#startReserved(attempt);
    }
    this.#starting = false;
  }

  get #mayStart(): boolean {
    return !this.#settling.isFull && this.#slots.anyFree;
  }

  /** A slot of its origin is free. */
  #startReserved(attempt: Attempt): void {
    const { origin } = attempt;
    const tenant = tenantOf(attempt);
    this.#slots.unreserve(tenant, origin);
    attempt.slot = this.#slots.take(tenant, origin);
    this.#calls.begin(attempt);
  }

  /**
   * Its outcome may be written, and what follows may have rung, before this process has heard so: without its hint a retry
   * would wait for its alarm. A hint of before its claim is a repeat.
   */
  #waitForEnd(hint: Hint): boolean {
    const attempt = this.#running.get(hint.id);
    if (attempt && hint.epoch >= attempt.record.epoch) attempt.hinted = hint;
    return attempt !== undefined;
  }

  #end(attempt: Attempt): void {
    const { id } = attempt.record.message;
    if (this.#running.get(id) === attempt) this.#running.delete(id);
    if (attempt.hinted) this.#share([attempt.hinted]).catch(() => undefined);
    this.#goOn();
  }

  #forget({ counted, sending }: Attempt): void {
    this.#claiming.freeBytes(counted);
    sending?.forget?.();
  }

  #giveSlotBack(attempt: Attempt): void {
    const { slot, origin, sending } = attempt;
    attempt.isCalling = false;
    attempt.slot = undefined;
    if (slot && sending) this.#slots.ended(slot, sending.address);
    if (slot) this.#claiming.freeSlot(slot, tenantOf(attempt), origin);
    this.#pump();
  }

  /** Where its call goes may be known by now. */
  #locate({ slot, sending, origin, counted, record }: Attempt): void {
    const { tenant } = record.message;
    if (slot && !slot.address && sending?.address !== undefined) {
      this.#slots.locate(slot, tenant, sending.address);
      this.#claiming.unblock(tenant, origin);
    }
    const address = sending?.address ?? this.#slots.addressOf(tenant, origin);
    if (counted && address !== undefined) this.#bodyBytes.locate(counted, address);
  }

  /** A call that waits for its answer leaves its place, unless its own kind holds its share already. */
  #wait(attempt: Attempt): void {
    if (attempt.slot) this.#slots.wait(attempt.slot, tenantOf(attempt));
  }

  #lengthen(attempt: Attempt): void {
    const { slot, origin } = attempt;
    if (!slot) return;
    this.#slots.leaveOrigin(slot);
    this.#claiming.unblock(tenantOf(attempt), origin);
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
    if (this.#running.size === 0 && !this.#settling.isTelling && !this.#claiming.isClaiming)
      this.#onIdle?.();
  }

  #handBack(): void {
    this.#calls.end();
    for (const attempt of this.#running.values()) attempt.sending?.abort();
    this.#settling.leaveLog();
  }
}
