/**
 * Claims messages in batches, from the hint to the claimed record, and begins the attempts of messages that wait in
 * line.
 *
 * (1) A message is claimed only after a permit was taken for its call; until then it waits in the store.
 * (2) Messages whose hints a line dropped, or whose claim failed, are in the store. They are pulled when their
 *     tenant's lines have run dry, or when their line has gone on for long.
 * (3) Messages that their inserts claimed for this deliverer wait in lines beside the hints of their origins and need
 *     no claim.
 */
import { limits, type MessageId, sentBytes, type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { type Attempt, beginCalling, newAttempt } from "../attempts/attempt.ts";
import { type Calls } from "../calls/calls.ts";
import { type Leases } from "../attempts/leases.ts";
import { type SharedParts } from "../parts.ts";
import { type DelivererPorts } from "../ports.ts";
import { countedBytes, type Need, type Permit } from "../permits/permits.ts";
import { type Presence } from "./presence.ts";
import { type Settling } from "../settling/settling.ts";
import { type Drained, isClaimed, isHint } from "../lines/tenant-lines.ts";
import { traceClaim } from "../trace.ts";

type ClaimingParts = SharedParts & {
  readonly calls: Calls;
  readonly leases: Leases;
  readonly presence: Presence;
  readonly settling: Settling;
};

/** The bounds of one claim. Its answer must be read well before its leases need their first renewal. */
const claimMax = { count: 200, bytes: limits.readBytesMax };
const lookAgainMs = 1_000;
const pullMax = 500;
/** The number of tenants pulled at once: one by one, thousands would wait for each other; all at once, they would flood the store. */
const pulledAtOnceMax = 8;

type Taken = { readonly hint: Hint; readonly permit: Permit };

export class Claiming {
  readonly #ports: DelivererPorts;
  readonly #parts: ClaimingParts;
  /** Hints with permits, which wait until the batch on its way has been claimed. A hint that comes twice takes one permit. */
  #toClaim = new Map<MessageId, Taken>();
  #toClaimBytes = 0;
  #taking = false;
  #claiming = false;
  #pulling = false;
  /** Cancels the next look. Set for a while after the store failed, during which nothing is pulled. */
  #callOff: (() => void) | undefined;

  constructor(ports: DelivererPorts, parts: ClaimingParts) {
    this.#ports = ports;
    this.#parts = parts;
  }

  get isClaiming(): boolean {
    return this.#claiming;
  }

  /** Reports whether a message may be claimed, here or by an insert: too many outcomes may wait to be written. */
  get mayClaim(): boolean {
    const { lines, settling } = this.#parts;
    return !lines.isClosed && !settling.isFull;
  }

  /**
   * The number of messages that wait for a slot of this process. While a slot is free that is 0: any others wait for
   * a limit of their own.
   */
  get waitingForSlot(): number {
    const { lines, permits } = this.#parts;
    return permits.anyFree ? 0 : lines.countReady(permits.caps);
  }

  /** Begins the attempt of a message that its insert has claimed, or puts it in line. Returns false when there is no room for it. */
  take(attempt: Attempt<"waiting">): boolean {
    const { lines, permits } = this.#parts;
    // The attempt begins without joining a line: a map that is emptied again and again costs a table each time (ADR 11).
    const isNext =
      !this.#taking && this.mayClaim && !this.isAheadOf(attempt) && permits.isFree(attempt);
    if (!isNext && (lines.isClosed || !lines.hasRoomFor(attempt))) {
      this.giveBack(attempt);
      return false;
    }
    this.#keep(attempt);
    if (isNext) this.#begin(attempt);
    else {
      attempt.entry = undefined;
      lines.addClaimed(attempt);
      this.serveLines();
    }
    return true;
  }

  /** Gives back a claim that an insert has made. */
  giveBack(attempt: Attempt<"waiting">): void {
    this.#keep(attempt);
    void this.#parts.settling.giveBack(attempt);
  }

  /** Adds the attempt to those that run, and keeps its lease. */
  #keep(attempt: Attempt): void {
    this.#parts.attempts.add(attempt);
    this.#parts.leases.startTimer();
  }

  /** Empties the lines: gives the claims back and returns the hints, which are for other deliverers. */
  giveAll(): readonly Hint[] {
    this.#callOff?.();
    const toClaim = [...this.#takeToClaim().values()];
    for (const { permit } of toClaim) permit.end();
    const all = this.#parts.lines.giveAll();
    for (const attempt of all.filter(isClaimed)) this.giveBack(attempt);
    return [...all.filter(isHint), ...toClaim.map(({ hint }) => hint)];
  }

  /** Reports whether a waiting hint goes before a new message: a hint of any tenant that may have a slot, or a hint in the same line. */
  isAheadOf({ tenant, origin, bytes }: Need): boolean {
    const { lines, permits } = this.#parts;
    if (this.#toClaim.size > 0) return true;
    if (lines.isEmpty) return false;
    return (permits.anyFree && lines.anyReady(permits)) || lines.hasWaiting(tenant, origin, bytes);
  }

  /**
   * Claims messages for the free slots, and pulls when no hint is left for them. A call may end within this function,
   * so it is not reentrant.
   */
  serveLines(): void {
    if (this.#taking || (this.#toClaim.size === 0 && this.#parts.lines.isEmpty)) return;
    this.#parts.leases.startTimer();
    this.#taking = true;
    while (this.mayClaim && this.#takeOne());
    this.#taking = false;
    if (this.#claiming || !this.mayClaim) return;
    const mayRefill = this.#parts.lines.anyOverdue || this.#toClaim.size === 0;
    if (this.#toClaim.size > 0) void this.#claim(this.#takeToClaim());
    if (mayRefill && this.#parts.lines.anyDropped && !this.#callOff) void this.#refill();
  }

  /** Takes a slot for the next in turn. A claimed attempt begins; a hint joins the next batch. */
  #takeOne(): boolean {
    // While the process has no free slot, no line may be marked as blocked: possibly nothing of its origin runs that would unblock it.
    if (this.#isClaimFull || !this.#parts.permits.anyFree) return false;
    const next = this.#parts.lines.take(this.#parts.permits);
    if (!next) return false;
    if (isClaimed(next)) this.#begin(next);
    else if (!this.#toClaim.has(next.id)) {
      this.#toClaim.set(next.id, { hint: next, permit: this.#parts.permits.take(next) });
      this.#toClaimBytes += countedBytes(next.bytes);
    }
    return true;
  }

  get #isClaimFull(): boolean {
    return this.#toClaim.size >= claimMax.count || this.#toClaimBytes >= claimMax.bytes;
  }

  #begin(attempt: Attempt<"waiting">): void {
    const { place } = attempt.state;
    if (!place) this.#parts.presence.begun(attempt);
    const permit = place ? place.begin() : this.#parts.permits.take(attempt);
    this.#parts.calls.begin(beginCalling(attempt, permit, this.#ports.clock));
  }

  #takeToClaim(): Map<MessageId, Taken> {
    const taken = this.#toClaim;
    this.#toClaim = new Map();
    this.#toClaimBytes = 0;
    return taken;
  }

  async #claim(taken: Map<MessageId, Taken>): Promise<void> {
    this.#claiming = true;
    const { permits } = this.#parts;
    const ofCapped = [...taken.values()].filter(({ hint }) => permits.caps.isCapped(hint.tenant));
    if (ofCapped.length > 0) await this.#keepWithinCaps(taken, ofCapped);
    if (taken.size > 0) await this.#claimAll(taken);
    this.#claiming = false;
    this.#parts.lines.goOn();
  }

  /** Puts hints that the caps of their tenants do not allow back into their lines. */
  async #keepWithinCaps(taken: Map<MessageId, Taken>, ofCapped: readonly Taken[]): Promise<void> {
    const { leases, lines, permits } = this.#parts;
    const byTenant = Map.groupBy(ofCapped, ({ hint }) => hint.tenant);
    await Promise.all(
      [...byTenant].map(async ([tenant, its]) => {
        const ids = its.map(({ hint }) => hint.id);
        const granted = await permits.caps.take(tenant, ids);
        for (const { hint, permit } of its) {
          if (granted.has(hint.id)) continue;
          taken.delete(hint.id);
          permit.end();
          lines.add(hint);
        }
        if (granted.size < its.length) leases.startTimer();
      }),
    );
  }

  async #claimAll(unclaimed: Map<MessageId, Taken>): Promise<void> {
    const { clock, log, records } = this.#ports;
    const askedAt = clock.passedMs();
    const batch = unclaimed.size;
    try {
      const claimed = await records.claim([...unclaimed.keys()], this.#parts.owner);
      for (const record of claimed) {
        const its = unclaimed.get(record.message.id);
        if (!its) continue;
        unclaimed.delete(record.message.id);
        const tookMs = clock.passedMs() - askedAt;
        traceClaim(this.#parts.telemetry.tracer, record, { tookMs, now: clock.now(), batch });
        its.permit.weigh(sentBytes(record.message));
        const attempt = newAttempt(record, its.hint.origin, askedAt, clock);
        attempt.untold = this.#parts.acceptance.mayLack(record);
        this.#keep(attempt);
        this.#parts.calls.begin(beginCalling(attempt, its.permit, clock));
      }
    } catch (error) {
      log.warn("claim.failed", { error, hints: batch });
      // The hints are lost, and the alarms of their messages are far ahead.
      for (const { hint } of unclaimed.values()) this.#parts.lines.expect(hint.tenant);
      this.#lookAgain();
    }
    for (const { hint, permit } of unclaimed.values()) {
      permit.end();
      permit.leaveCap(hint.id);
    }
  }

  /** Looks again after a pause, since the store may go on failing. */
  #lookAgain(): void {
    this.#callOff ??= this.#ports.clock.after(lookAgainMs, () => {
      this.#callOff = undefined;
      this.serveLines();
    });
  }

  /** Pulls the oldest messages of each tenant whose lines have run dry, without its blocked origins; each tenant once. */
  async #refill(): Promise<void> {
    if (this.#pulling) return;
    this.#pulling = true;
    const asked = new Set<TenantId>();
    let isAnyFound = false;
    try {
      // Tenants with dropped hints go before tenants that may have messages in the store.
      while (this.mayClaim) {
        const drained = this.#parts.lines.drained(this.#parts.permits, pulledAtOnceMax, asked);
        if (drained.length === 0) break;
        for (const { tenant } of drained) asked.add(tenant);
        const found = await Promise.all(drained.map((each) => this.#pull(each)));
        if (found.every((count) => count === 0)) continue;
        isAnyFound = true;
        this.serveLines();
      }
    } catch (error) {
      this.#ports.log.warn("pull.failed", { error });
      this.#lookAgain();
    }
    this.#pulling = false;
    // A pulled tenant may have run dry again.
    if (isAnyFound) this.serveLines();
  }

  /** Resolves to the number of hints that were added. */
  async #pull(drained: Drained): Promise<number> {
    const hints = await this.#ports.records.pull(drained.tenant, pullMax, drained.except);
    const fresh = hints.filter((hint) => !this.#parts.attempts.waitsForEnd(hint));
    return this.#parts.lines.pulled(drained, fresh, hints.length >= pullMax && fresh.length > 0);
  }
}
