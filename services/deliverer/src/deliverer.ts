/**
 * The deliverer: claim → call → settle. Owns the permits and the running attempts. claiming.ts claims messages, calls.ts makes the calls,
 * leases.ts keeps the leases, settling.ts writes the outcomes.
 *
 * (1) Every call has a slot. Messages that their inserts claimed wait for one in line, in turns with the hints of their origin (ADR 183).
 * (2) Every write about an attempt is fenced by the claim's epoch (I4). A running call whose lease cannot be proven is aborted, and
 *     nothing is written. The outcome of an ended call is offered to the store however late it is.
 * (3) An outcome is written until the store takes it or fences it. The slot is free as soon as the call has ended; claiming stops while
 *     too many outcomes, or bytes of answers, wait to be written.
 */
import {
  giveBack,
  type InState,
  isNamed,
  type MessageId,
  originHash,
  type Owner,
  sentBytes,
  type TenantId,
  TurnoverMap,
} from "@posthaste/domain";
import { announceTraced } from "@posthaste/engine";
import { type Hint, type LocalDelivery, noTelemetry, type Telemetry } from "@posthaste/ports";
import { abort, type Attempt, lose, leasedAtOf, namedAttempt, newAttempt } from "./attempt.ts";
import { countedBytes } from "./body-bytes.ts";
import { type CallParts, type CallPorts, Calls } from "./calls.ts";
import { Claiming } from "./claiming.ts";
import { Leases } from "./leases.ts";
import { Named } from "./named.ts";
import { Presence, type PresencePorts } from "./presence.ts";
import { Settling, type SettlingOptions, type SettlingPorts } from "./settling.ts";
import { type PermitOptions, Permits } from "./permits.ts";
import { traceTaking } from "./trace.ts";

export type DelivererPorts = SettlingPorts &
  CallPorts &
  Pick<PresencePorts, "roster"> & { readonly telemetry?: Telemetry };

export type DelivererOptions = PermitOptions &
  Pick<CallParts, "compose" | "inlineHistoryBytesMax"> & {
    readonly owner: Owner;
    /**
     * Lists the tenants whose messages are pulled at the start: the hints that a dead process had buffered are lost, and their messages would
     * wait for their alarms. Absent where the store rings all due messages at its own start.
     */
    readonly tenants?: () => readonly TenantId[];
    readonly failed?: SettlingOptions["failed"];
    /** How long `stop` waits for running attempts before it hands them back. */
    readonly drainMs: number;
  };

export class Deliverer implements LocalDelivery {
  readonly name = "deliverer";
  readonly owner: Owner;
  readonly #ports: DelivererPorts;
  readonly #options: DelivererOptions;
  readonly #telemetry: Telemetry;
  readonly #permits: Permits;
  readonly #claiming: Claiming;
  /** Includes the attempts that wait in line. */
  readonly #running = new TurnoverMap<MessageId, Attempt>();
  readonly #leases: Leases;
  readonly #settling: Settling;
  readonly #calls: Calls;
  readonly #named: Named;
  readonly #presence: Presence;
  #unsubscribe: (() => Promise<void>) | undefined;
  #stopping = false;
  #onIdle: (() => void) | undefined;

  constructor(ports: DelivererPorts, options: DelivererOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#permits = new Permits(ports, options, {
      unblock: (tenant, origin) => this.#claiming.unblock(tenant, origin),
      unblockHeavy: (all) => this.#claiming.unblockHeavy(all),
      next: () => this.#claiming.next(),
    });
    this.owner = options.owner;
    this.#telemetry = ports.telemetry ?? noTelemetry;
    this.#telemetry.metrics.watch("posthaste_attempts_running", () => this.#running.size);
    this.#telemetry.metrics.watch(
      "posthaste_attempts_body_bytes",
      () => this.#permits.bytesInFlight,
    );
    this.#telemetry.metrics.watch(
      "posthaste_attempts_waiting",
      () => this.#claiming.waitingForSlot,
    );
    this.#claiming = new Claiming(ports, {
      owner: this.owner,
      tracer: this.#telemetry.tracer,
      permits: this.#permits,
      waitsForEnd: (hint) => this.#waitForEnd(hint),
      mayClaim: () => !this.#stopping && !this.#settling.isFull,
      claimed: (attempt) => {
        attempt.untold ||= this.#mayBeUntold(attempt);
        this.#keep(attempt);
        this.#calls.begin(attempt);
      },
      capped: () => this.#leases.keep(),
      ended: () => this.#goOn(),
    });
    this.#leases = new Leases(ports, {
      running: this.#running,
      lost: (attempt) => {
        lose(attempt);
        this.#settling.freeLane(attempt);
      },
      permits: this.#permits,
      tell: (attempts) => this.#tellAccepted(attempts),
      checked: () => {
        this.#claiming.unblockSome();
        this.#claiming.next();
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
      handBack: (record) => this.#giveBack(namedAttempt(record, ports.clock)),
      leave: (record) => this.#announceAccepted([record]),
      due: (hints) => this.hear(hints),
    });
    this.#settling = new Settling(ports, {
      telemetry: this.#telemetry,
      ended: (attempt) => this.#end(attempt),
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
    this.#claiming.next();
  }

  /**
   * Claims nothing more, publishes the waiting hints for other deliverers, waits for the running attempts, and hands back the claims of those
   * that run longer than `drainMs` (docs/design/outages#stopping).
   */
  async stop(): Promise<void> {
    const timeUp = this.#ports.clock.after(this.#options.drainMs, () => this.#handBack());
    await this.#presence.leave();
    this.#stopping = true;
    this.#named.stop();
    this.#permits.endTurns();
    await this.#unsubscribe?.();
    const { claimed, hints } = this.#claiming.giveAll();
    for (const attempt of claimed) this.#giveBack(attempt);
    this.#calls.stop();
    // A message without a hint waits for its alarm, up to ten minutes.
    await this.#ports.bus.publish("message.due", hints);
    await this.#idle();
    timeUp();
    this.#leases.stop();
    this.#settling.stop();
  }

  reserve(tenant: TenantId, origin: number, bodyBytes: number): boolean {
    if (this.#stopping || this.#settling.isFull) return false;
    return (
      this.#mayWait(tenant, origin, bodyBytes) && this.#permits.reserve(tenant, origin, bodyBytes)
    );
  }

  /** Reports whether a reservation may wait in line. That of a heavy message may not: it would hold bytes that others could use. */
  #mayWait(tenant: TenantId, origin: number, bytes: number): boolean {
    const counted = countedBytes(bytes);
    if (counted === 0) return true;
    return (
      !this.#claiming.isAheadOf(tenant, origin, counted) &&
      this.#permits.isFree({ tenant, origin, bytes })
    );
  }

  turn(tenant: TenantId, origin: number, bodyBytes: number): Promise<void> | undefined {
    return this.#stopping ? undefined : this.#permits.turn(tenant, origin, bodyBytes);
  }

  release(tenant: TenantId, origin: number, bodyBytes: number): void {
    this.#permits.reserved(tenant, origin, bodyBytes).end();
    // A reservation holds bytes, for which a hint may wait.
    this.#claiming.next();
  }

  /** Starts the attempt of a message that a publish reserved and its insert claimed. The lease began before the insert. */
  run(record: InState<"claimed">): void {
    const { tenant, url } = record.message;
    const { clock } = this.#ports;
    const origin = originHash(url);
    const permit = this.#permits.reserved(tenant, origin, sentBytes(record.message));
    const attempt = newAttempt(record, origin, leasedAtOf(record, clock), clock, permit);
    this.#keep(attempt);
    if (this.#stopping) this.#giveBack(attempt);
    else this.#claiming.takeReserved(attempt);
  }

  /** Returns how many calls of the tenant are under way in this process. */
  running(tenant: TenantId): number {
    return this.#permits.heldBy(tenant);
  }

  abort(id: MessageId): boolean {
    const attempt = this.#running.get(id);
    if (attempt) lose(attempt);
    return attempt !== undefined;
  }

  // ---- from hint to claim

  /** Takes hints from the bus: their messages are due. */
  hear(hints: readonly Hint[]): void {
    this.#claiming.add(this.#named.hear(hints));
    this.#claiming.next();
    this.#presence.grew();
  }

  /** Reports whether gateways may name this deliverer in an insert. */
  get #isOpen(): boolean {
    return (
      !this.#stopping &&
      !this.#settling.isFull &&
      this.#ports.bus.hears("message.due") &&
      this.#claiming.isOpenToNamed
    );
  }

  /** Takes a message that its insert claimed for this deliverer, or hands the claim back when there is no room. */
  #takeNamed(record: InState<"claimed">): void {
    const { clock } = this.#ports;
    const attempt = namedAttempt(record, clock);
    const mayTake = !this.#stopping && !this.#permits.isCapped(attempt.tenant);
    if (!mayTake) return this.#giveBack(attempt);
    traceTaking(this.#telemetry.tracer, record, clock.now());
    this.#keep(attempt);
    if (this.#claiming.takeNamed(attempt))
      this.#telemetry.metrics.count("posthaste_named_hints_total", "taken");
    else this.#giveBack(attempt);
  }

  /** Gives a claim back before its call: any deliverer may have the message. */
  #giveBack(attempt: Attempt<"waiting">): void {
    if (isNamed(attempt.record))
      this.#telemetry.metrics.count("posthaste_named_hints_total", "handedBack");
    this.#keep(attempt);
    void this.#settling.write(attempt, giveBack(attempt.record, this.#ports.clock.now()));
  }

  /**
   * Reports whether the log may lack the message's acceptance: an insert that claims tells no log, and the deliverer that it named may have
   * died before telling.
   */
  #mayBeUntold({ record: { epoch, message, retried } }: Attempt): boolean {
    return this.#ports.roster !== undefined && epoch > 1 && retried === 0 && !message.run;
  }

  /** Publishes the acceptance of these messages for the log. Does nothing while the bus is away: `Leases` asks again. */
  #tellAccepted(attempts: readonly Attempt[]): void {
    if (!this.#ports.bus.isUp()) return;
    for (const attempt of attempts) attempt.untold = false;
    this.#announceAccepted(attempts.map(({ record }) => record));
  }

  #announceAccepted(records: readonly InState<"claimed">[]): void {
    announceTraced(this.#ports, this.#telemetry.tracer, records).catch(() => undefined);
  }

  /** Takes the hints that have a free slot here, and publishes the rest for any deliverer. */
  async #share(hints: readonly Hint[]): Promise<void> {
    const isMine = ({ tenant, origin }: Hint): boolean =>
      !this.#stopping && this.#permits.isFree({ tenant, origin, bytes: 0 });
    const theirs = hints.filter((hint) => !isMine(hint));
    this.hear(hints.filter(isMine));
    if (theirs.length > 0) await this.#ports.bus.publish("message.due", theirs);
  }

  #goOn(): void {
    this.#claiming.next();
    this.#endIfIdle();
  }

  // ---- the call

  /** Counts the attempt as running, and keeps its lease. */
  #keep(attempt: Attempt): void {
    this.#running.set(attempt.record.message.id, attempt);
    this.#leases.keep();
  }

  /**
   * Reports whether the message runs here, and keeps its hint until the attempt has ended: the store may have taken the outcome, and the retry
   * rung, before this process hears the store's answer; without the hint that retry would wait for its alarm. A hint with an older epoch is
   * a repeat.
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

  // ---- stopping

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#endIfIdle();
    });
  }

  /** Ends `stop` once nothing runs, no claim is on its way and every outcome has been told. */
  #endIfIdle(): void {
    if (this.#running.size === 0 && !this.#settling.isTelling && !this.#claiming.isClaiming)
      this.#onIdle?.();
  }

  #handBack(): void {
    this.#calls.end();
    for (const attempt of this.#running.values()) abort(attempt);
    this.#settling.leaveLog();
  }
}
