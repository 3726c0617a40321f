/**
 * Names deliverers of other processes from the roster: a message is claimed for a deliverer by its insert, and the
 * deliverer gets the record with the hint.
 *
 * (1) Only deliverers that are fresh and open in the roster are named. If the roster cannot be read, or was read too
 *     long ago, none is named.
 * (2) A lost hint costs the lease of the insert; then any deliverer may claim. So no hint is dropped for lack of
 *     bytes: bytes on the bus are reserved for each hint before its message is inserted.
 */
import {
  configurationBytes,
  type InState,
  limits,
  limitOf,
  type Message,
  type Owner,
  type Plan,
  type TenantId,
} from "@posthaste/domain";
import {
  type Clock,
  type EventBus,
  type Log,
  type Metrics,
  type NamedDelivery,
  type Roster,
  type RosterEntry,
  type Service,
} from "@posthaste/ports";
import { hintOf } from "./announce.ts";
import { BusyWaits } from "./busy-waits.ts";

export type NamedDeliveryPorts = {
  readonly roster: Pick<Roster, "read">;
  readonly bus: Pick<EventBus, "publish" | "isUp" | "freeRecordBytes">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** No deliverer is named for a tenant whose calls are capped, since those calls are counted before they are claimed. */
  readonly planOf: (tenant: TenantId) => Plan | undefined;
};

/** The partitions that a deliverer receives, and the time at which the roster last had it. */
type Heard = { readonly partitions: readonly number[]; readonly foundAt: number };

const readEveryMs = 500;
/** How often the roster is read under load, and while every deliverer is busy, so that few messages are named too many. */
const readUnderLoadMs = 100;
const readWhileBusyMs = 50;
/** This many messages named since the last reading are load. */
const loadMin = 50;
/**
 * How long one partition of a deliverer is used before the next. Hints published on a partition during this time
 * share one send and one Kafka message.
 */
const partitionTurnMs = 100;
/** The time without inserts after which a gateway stops reading the roster. */
const readAfterUseMs = 10_000;

export class NamedDeliverers implements NamedDelivery, Service {
  readonly name = "roster";
  readonly #ports: NamedDeliveryPorts;
  readonly #waits: BusyWaits;
  #open: readonly RosterEntry[] = [];
  #heard: ReadonlyMap<Owner, Heard> = new Map();
  #startedAt = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #usedAt = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #isBusy = false;
  #next = 0;
  #namedSinceRead = 0;
  /** The bytes of hints whose messages are being inserted. */
  #reservedBytes = 0;
  #cancel: (() => void) | undefined;
  #isStopped = false;

  constructor(ports: NamedDeliveryPorts) {
    this.#ports = ports;
    this.#waits = new BusyWaits(ports.clock);
    ports.metrics.watch("posthaste_roster_age_seconds", () => {
      if (!this.#isReading) return 0;
      const since = Math.max(this.#readAt, this.#startedAt);
      return (ports.clock.passedMs() - since) / 1_000;
    });
  }

  /** Starts without waiting for the roster: until it is read, messages wait for a claim. */
  async start(): Promise<void> {
    this.#startedAt = this.#ports.clock.passedMs();
    this.#usedAt = this.#startedAt;
    void this.#read();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    this.#waits.found(false);
  }

  ownerFor(message: Message): Owner | undefined {
    const { bus, clock, planOf } = this.#ports;
    if (this.#isStopped) return undefined;
    this.#usedAt = clock.passedMs();
    if (!this.#isReading) void this.#read();
    if (this.#ageMs > limits.rosterFreshMs || !bus.isUp()) return undefined;
    const plan = planOf(message.tenant);
    if (!plan || limitOf(plan, "parallelismMax") !== undefined) return undefined;
    const owner = this.#nextFor(message);
    const bytes = hintBytes(message);
    if (owner === undefined || bus.freeRecordBytes() - this.#reservedBytes < bytes)
      return undefined;
    this.#reservedBytes += bytes;
    this.#namedSinceRead += 1;
    return owner;
  }

  waitWhileBusy(tenant: TenantId): Promise<void> | undefined {
    return this.#waits.wait(tenant);
  }

  sendHint(record: InState<"claimed">): void {
    this.release(record);
    const to = this.#partitionOf(record.state.owner);
    const hint = { ...hintOf(record), record, ...(to !== undefined && { to }) };
    this.#ports.bus.publish("message.due", [hint]).catch(() => undefined);
  }

  release({ message }: InState<"claimed">): void {
    this.#reservedBytes -= hintBytes(message);
  }

  #partitionOf(owner: Owner): number | undefined {
    const partitions = this.#heard.get(owner)?.partitions ?? [];
    const turn = Math.floor(this.#ports.clock.passedMs() / partitionTurnMs);
    return partitions[turn % partitions.length];
  }

  /** Returns the next open deliverer that understands the message, in turn; busy deliverers only while all are busy. */
  #nextFor({ format = 1 }: Message): Owner | undefined {
    const { length } = this.#open;
    for (let n = 0; n < length; n++) {
      const entry = this.#open[this.#next++ % length];
      if (entry && entry.format >= format) return entry.owner;
    }
    return undefined;
  }

  /**
   * Returns the partitions of the found deliverers, and of deliverers that have closed or left recently, which still
   * hear of messages inserted for them a moment ago.
   */
  #heardBy(entries: readonly RosterEntry[], foundAt: number): ReadonlyMap<Owner, Heard> {
    const kept = [...this.#heard].filter(
      ([, heard]) => heard.foundAt > foundAt - limits.rosterFreshMs,
    );
    const found = entries.map(({ owner, partitions }) => [owner, { partitions, foundAt }] as const);
    return new Map([...kept, ...found]);
  }

  get #ageMs(): number {
    return this.#ports.clock.passedMs() - this.#readAt;
  }

  async #read(): Promise<void> {
    const { clock, log, roster } = this.#ports;
    this.#isReading = true;
    const askedAt = clock.passedMs();
    try {
      this.#found(await roster.read(), askedAt);
    } catch (error) {
      log.debug("roster.unread", { error });
      this.#setBusy(false);
    }
    this.#isReading = !this.#isStopped && clock.passedMs() - this.#usedAt < readAfterUseMs;
    if (this.#isReading) this.#cancel = clock.after(this.#nextReadMs(), () => void this.#read());
    // A deliverer may have died before the last read; keeping it would trust it for twice as long.
    else this.#open = [];
  }

  #found(entries: readonly RosterEntry[], askedAt: number): void {
    const hearing = entries.filter(({ partitions }) => partitions.length > 0);
    const open = hearing.filter(({ isOpen }) => isOpen);
    const idle = open.filter(({ isBusy }) => !isBusy);
    this.#open = idle.length > 0 ? idle : open;
    this.#heard = this.#heardBy(entries, askedAt);
    this.#readAt = askedAt;
    this.#setBusy(idle.length === 0 && hearing.some(({ isBusy }) => isBusy));
  }

  #setBusy(isBusy: boolean): void {
    this.#isBusy = isBusy && !this.#isStopped;
    this.#waits.found(this.#isBusy);
  }

  #nextReadMs(): number {
    const isUnderLoad = this.#namedSinceRead >= loadMin;
    this.#namedSinceRead = 0;
    if (this.#isBusy) return readWhileBusyMs;
    return isUnderLoad ? readUnderLoadMs : readEveryMs;
  }
}

/** Estimates the bytes of a hint on the bus, where bodies travel in base64. */
const hintBytes = (message: Message): number =>
  Math.ceil(message.body.length * base64Growth) + configurationBytes(message);
const base64Growth = 4 / 3;
