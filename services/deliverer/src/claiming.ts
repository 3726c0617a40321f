/**
 * From hint to claim. Owns the buffer of hints, and claims one batch at a time.
 *
 * (1) A message is claimed only for a slot and bytes that were taken for it before; what waits, waits in the store.
 * (2) What gives back a slot or bytes gives them back here: a line that waited for them has another look.
 * (3) What the buffer has dropped, or a claim that failed has left, is in the store. It is pulled when its tenant has run dry, or its line
 *     has gone on for long.
 * (4) What its insert has claimed for this deliverer waits in the same lines for a slot, and then needs no claim. There is
 *     a bound of its own to it: these hold their bodies.
 */
import {
  configurationBytes,
  limits,
  type Message,
  type MessageId,
  type MessageRecord,
  type Owner,
  sentBytes,
  type TenantId,
} from "@posthaste/domain";
import { type Clock, type Hint, type Log, type Records, type Telemetry } from "@posthaste/ports";
import { type Attempt, newAttempt } from "./attempt.ts";
import { type BodyBytes, type Counted, countedBytes } from "./body-bytes.ts";
import { type Drained, HintBuffer, type Room } from "./buffer.ts";
import { type Caps } from "./caps.ts";
import { type Slot, type Slots } from "./slots.ts";
import { traceClaim } from "./trace.ts";

export type ClaimingPorts = {
  readonly records: Pick<Records, "claim" | "pull">;
  readonly clock: Clock;
  readonly log: Log;
};

export type ClaimingParts = {
  readonly owner: Owner;
  readonly tracer: Telemetry["tracer"];
  readonly slots: Slots;
  readonly bodyBytes: BodyBytes;
  readonly caps: Caps;
  /** It runs here; then its hint waits for the end of that. */
  readonly waitsForEnd: (hint: Hint) => boolean;
  readonly mayClaim: () => boolean;
  /** The record is this process', and has its slot. */
  readonly claimed: (attempt: Attempt) => void;
  /** Hints wait for their tenants' caps, though nothing may run here. */
  readonly capped: () => void;
  /** A batch has been claimed. */
  readonly ended: () => void;
  /** There may be something to take, or to pull. */
  readonly found: () => void;
};

/** Of one claim. It is read before its leases are renewed for the first time, so it is not to take long. */
const claimMax = { count: 200, bytes: limits.readBytesMax };
const lookAgainMs = 1_000;
/** Claimed by their inserts, and waiting for slots: from the first on gateways are told to name another; what is beyond the second goes back. */
const namedOpenMax = { count: 1_000, bytes: 16 * 1024 * 1024 };
/** Until all have read that, a second or so, they name on. What goes back is written and claimed once more, just when there is most to do. */
const namedMax = { count: 5_000, bytes: 32 * 1024 * 1024 };
const pullMax = 500;
/** Where newcomers keep a line going, what was dropped of it is pulled after each thousand that it has given: up to half of what goes next. */
const buffered = { perOriginMax: 1_000, totalMax: 50_000, askAgainAfter: 1_000 };
/** Tenants. One after another, thousands would wait for each other's answers; all at once they would be a flood. */
const pulledAtOnceMax = 8;

type Taken = {
  readonly hint: Hint;
  readonly slot: Slot;
  readonly counted: Counted | undefined;
};

export class Claiming {
  readonly #ports: ClaimingPorts;
  readonly #parts: ClaimingParts;
  readonly #buffer = new HintBuffer(buffered);
  readonly #room: Room;
  /** Those that its buffer has the hints of and that are claimed already. */
  readonly #named = new Map<MessageId, Attempt>();
  #namedBytes = 0;
  /** They have their slots, and wait for the batch that is on its way. */
  #toClaim: Taken[] = [];
  #toClaimBytes = 0;
  #taking = false;
  #claiming = false;
  #pulling = false;
  /** How to call off the next look: the store has failed a moment ago, and nothing is pulled meanwhile. */
  #callOff: (() => void) | undefined;

  constructor(ports: ClaimingPorts, parts: ClaimingParts) {
    this.#ports = ports;
    this.#parts = parts;
    const { slots, bodyBytes, caps } = parts;
    this.#room = {
      isFreeFor: (tenant) => slots.anyFree && slots.isFreeFor(tenant) && caps.mayTake(tenant),
      isFree: ({ tenant, origin, bytes }) =>
        slots.isFree(tenant, origin) && bodyBytes.fit(tenant, origin, countedBytes(bytes)),
    };
  }

  /** A batch is on its way to the store. */
  get isClaiming(): boolean {
    return this.#claiming;
  }

  /** Hints that wait here. */
  get waiting(): number {
    return this.#buffer.size + this.#toClaim.length;
  }

  /** Hints that wait for one of this process' slots. What waits while one is free is held back by a limit of its own. */
  get waitingForSlot(): number {
    const { caps, slots } = this.#parts;
    return slots.anyFree ? 0 : this.#buffer.countReady((tenant) => caps.mayTake(tenant));
  }

  /** What waits here of messages that their inserts have claimed is little. */
  get isOpenToNamed(): boolean {
    return this.#named.size < namedOpenMax.count && this.#namedBytes < namedOpenMax.bytes;
  }

  add(hints: readonly Hint[]): void {
    for (const hint of hints) if (!this.#parts.waitsForEnd(hint)) this.#buffer.add(hint);
  }

  /** It is claimed: it begins, or waits for a slot in its line. False: there is no room for it. */
  takeNamed(hint: Hint, attempt: Attempt): boolean {
    if (this.#isNext(hint)) {
      this.#begin(hint, attempt);
      return true;
    }
    const { count, bytes } = namedMax;
    if (this.#named.size >= count || this.#namedBytes >= bytes) return false;
    if (!this.#buffer.addClaimed(hint)) return false;
    this.#named.set(hint.id, attempt);
    this.#namedBytes += weightOf(attempt.record.message);
    return true;
  }

  /** This tenant may have something in the store that no hint tells of. */
  expect(tenant: TenantId): void {
    this.#buffer.expect(tenant);
  }

  /** All that waits here, for other deliverers: it waits here no more. Of what is claimed already the claim is to be handed back. */
  giveAll(): { readonly hints: readonly Hint[]; readonly claimed: readonly Attempt[] } {
    this.#callOff?.();
    const toClaim = this.#takeToClaim();
    for (const each of toClaim) this.#letGo(each);
    const all = [...this.#buffer.giveAll(), ...toClaim.map(({ hint }) => hint)];
    const claimed = all.flatMap(({ id }) => this.#endWait(id) ?? []);
    const isClaimed = new Set(claimed.map(({ record }) => record.message.id));
    return { hints: all.filter(({ id }) => !isClaimed.has(id)), claimed };
  }

  /** Whether a hint has its turn before a newcomer: it is of any tenant and may have its slot, or stands in the same line. */
  isAheadOf(tenant: TenantId, origin: number, counted: number): boolean {
    if (this.#toClaim.length > 0) return true;
    if (this.#parts.slots.anyFree && this.#buffer.anyReady(this.#room.isFreeFor)) return true;
    return this.#buffer.hasWaiting(tenant, origin, counted);
  }

  /** Claims for the slots that are free; pulls where none of the hints has one. Not inside itself: a call may end at once. */
  next(): void {
    if (this.#taking) return;
    this.#taking = true;
    while (this.#parts.mayClaim() && this.#takeOne());
    this.#taking = false;
    if (this.#claiming || !this.#parts.mayClaim()) return;
    const mayRefill = this.#buffer.anyOverdue || this.#toClaim.length === 0;
    if (this.#toClaim.length > 0) void this.#claim(this.#takeToClaim());
    if (mayRefill && this.#buffer.anyDropped && !this.#callOff) void this.#refill();
  }

  /** The next in turn has its slot: its call begins, or it is to be claimed. */
  #takeOne(): boolean {
    // An origin is asked for a slot only while the process has one: it would wait for one of its own to be freed, and it may have none.
    if (this.#isClaimFull || !this.#parts.slots.anyFree) return false;
    const hint = this.#buffer.take(this.#room);
    if (!hint) return false;
    const attempt = this.#endWait(hint.id);
    if (attempt) this.#begin(hint, attempt);
    else {
      this.#toClaim.push({ hint, ...this.#takeRoom(hint) });
      this.#toClaimBytes += countedBytes(hint.bytes);
    }
    return true;
  }

  get #isClaimFull(): boolean {
    return this.#toClaim.length >= claimMax.count || this.#toClaimBytes >= claimMax.bytes;
  }

  /** What need not wait joins no line: an emptied one costs a table each time (ADR 11). */
  #isNext(hint: Hint): boolean {
    const { tenant, origin, bytes } = hint;
    return (
      !this.#taking &&
      this.#parts.mayClaim() &&
      !this.isAheadOf(tenant, origin, countedBytes(bytes)) &&
      this.#parts.slots.anyFree &&
      this.#room.isFree(hint)
    );
  }

  #begin(hint: Hint, attempt: Attempt): void {
    this.#parts.claimed(Object.assign(attempt, this.#takeRoom(hint)));
  }

  #takeRoom({ bytes, origin, tenant }: Hint): Pick<Taken, "slot" | "counted"> {
    const { bodyBytes, slots } = this.#parts;
    const counted = bodyBytes.take(tenant, origin, countedBytes(bytes));
    return { slot: slots.take(tenant, origin), counted };
  }

  /** Of one that is claimed already. */
  #endWait(id: MessageId): Attempt | undefined {
    const attempt = this.#named.get(id);
    if (!attempt) return undefined;
    this.#named.delete(id);
    this.#namedBytes -= weightOf(attempt.record.message);
    return attempt;
  }

  freeSlot(slot: Slot, tenant: TenantId, origin: number): void {
    this.#parts.slots.free(slot);
    this.#buffer.unblock(tenant, origin);
  }

  freeBytes(counted: Counted | undefined): void {
    if (counted === undefined) return;
    const { bodyBytes } = this.#parts;
    bodyBytes.free(counted);
    this.#buffer.unblockHeavy(bodyBytes.inFlight === 0);
  }

  /** An origin may have a slot again. */
  unblock(tenant: TenantId, origin: number): void {
    this.#buffer.unblock(tenant, origin);
  }

  /** Some of the lines have another look, each time different ones. */
  unblockSome(): void {
    this.#buffer.unblockSome();
  }

  #takeToClaim(): readonly Taken[] {
    this.#toClaimBytes = 0;
    return this.#toClaim.splice(0);
  }

  async #claim(hinted: readonly Taken[]): Promise<void> {
    this.#claiming = true;
    const anyCapped = hinted.some(({ hint }) => this.#parts.caps.mayHave(hint.tenant));
    const taken = anyCapped ? await this.#withinCaps(hinted) : hinted;
    if (taken.length > 0) await this.#claimAll(taken);
    this.#claiming = false;
    this.#parts.ended();
  }

  /** Those that the caps of their tenants allow; the rest wait here again. */
  async #withinCaps(taken: readonly Taken[]): Promise<readonly Taken[]> {
    const byTenant = Map.groupBy(taken, ({ hint }) => hint.tenant);
    const allowed = await Promise.all(
      [...byTenant].map(async ([tenant, its]) => {
        const ids = its.map(({ hint }) => hint.id);
        const granted = await this.#parts.caps.take(tenant, ids);
        for (const each of its) {
          if (granted.has(each.hint.id)) continue;
          this.#letGo(each);
          this.#buffer.add(each.hint);
        }
        if (granted.size < its.length) this.#parts.capped();
        return its.filter(({ hint }) => granted.has(hint.id));
      }),
    );
    return allowed.flat();
  }

  async #claimAll(taken: readonly Taken[]): Promise<void> {
    const { clock, log, records } = this.#ports;
    const askedAt = clock.passedMs();
    const batch = taken.length;
    const unclaimed = new Map(taken.map((each) => [each.hint.id, each]));
    try {
      const claimed = await records.claim([...unclaimed.keys()], this.#parts.owner);
      for (const record of claimed) {
        const its = unclaimed.get(record.message.id);
        if (!its) continue;
        unclaimed.delete(record.message.id);
        const tookMs = clock.passedMs() - askedAt;
        traceClaim(this.#parts.tracer, record, { tookMs, now: clock.now(), batch });
        const weighed = { slot: its.slot, counted: this.#weigh(record, its) };
        this.#parts.claimed(newAttempt(record, its.hint.origin, askedAt, clock, weighed));
      }
    } catch (error) {
      log.warn("claim.failed", { error, hints: batch });
      // The hints are gone, and their alarms are far.
      for (const { hint } of taken) this.#buffer.expect(hint.tenant);
      this.#lookAgain();
    }
    for (const each of unclaimed.values()) {
      this.#letGo(each);
      this.#parts.caps.free(each.hint.tenant, each.hint.id);
    }
  }

  /** Not at once, since the store may go on failing. */
  #lookAgain(): void {
    this.#callOff ??= this.#ports.clock.after(lookAgainMs, () => {
      this.#callOff = undefined;
      this.#parts.found();
    });
  }

  #letGo({ hint, slot, counted }: Taken): void {
    this.freeSlot(slot, hint.tenant, hint.origin);
    this.freeBytes(counted);
  }

  /** Its size is known now: a hint may not have said it. */
  #weigh({ message }: MessageRecord, { hint, counted }: Taken): Counted | undefined {
    const bytes = countedBytes(sentBytes(message));
    if (bytes === countedBytes(hint.bytes)) return counted;
    const weighed = this.#parts.bodyBytes.take(message.tenant, hint.origin, bytes);
    this.freeBytes(counted);
    return weighed;
  }

  /** The oldest of each tenant that has run dry, apart from origins that are full; each tenant once. */
  async #refill(): Promise<void> {
    if (this.#pulling) return;
    this.#pulling = true;
    const asked = new Set<TenantId>();
    let isAnyFound = false;
    try {
      // Those of whom something was dropped meanwhile go before those that only may have something.
      while (this.#parts.mayClaim()) {
        const drained = this.#buffer.drained(this.#room, pulledAtOnceMax, asked);
        if (drained.length === 0) break;
        for (const { tenant } of drained) asked.add(tenant);
        const found = await Promise.all(drained.map((each) => this.#pull(each)));
        if (found.every((count) => count === 0)) continue;
        isAnyFound = true;
        this.#parts.found();
      }
    } catch (error) {
      this.#ports.log.warn("pull.failed", { error });
      this.#lookAgain();
    }
    this.#pulling = false;
    // One that was asked has perhaps run dry again meanwhile.
    if (isAnyFound) this.#parts.found();
  }

  /** How many it has found that have a place here. */
  async #pull(drained: Drained): Promise<number> {
    const hints = await this.#ports.records.pull(drained.tenant, pullMax, drained.except);
    const fresh = hints.filter((hint) => !this.#parts.waitsForEnd(hint));
    return this.#buffer.pulled(drained, fresh, hints.length >= pullMax && fresh.length > 0);
  }
}

const weightOf = (message: Message): number => message.body.length + configurationBytes(message);
