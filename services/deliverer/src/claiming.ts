/**
 * Claims messages, from the hint to the claimed record. Owns the lines of whatever waits, and claims one batch at a time.
 *
 * (1) A message is claimed only after a permit was taken for its call; until then it waits in the store.
 * (2) Messages whose hints a line dropped, or whose claim failed, are in the store. They are pulled when their tenant's lines have run
 *     dry, or when their line has gone on for long.
 * (3) Messages that their inserts claimed for this deliverer wait in lines beside the hints of their origins and need no claim.
 */
import { limits, type Owner, sentBytes, type TenantId } from "@posthaste/domain";
import { type Clock, type Hint, type Log, type Records, type Telemetry } from "@posthaste/ports";
import { type Attempt, begin, newAttempt } from "./attempt.ts";
import { countedBytes } from "./body-bytes.ts";
import { type Drained, isClaimed, isHint, Lines } from "./lines.ts";
import { type Freed, type Permit, type Permits } from "./permits.ts";
import { traceClaim } from "./trace.ts";

export type ClaimingPorts = {
  readonly records: Pick<Records, "claim" | "pull">;
  readonly clock: Clock;
  readonly log: Log;
};

export type ClaimingParts = {
  readonly owner: Owner;
  readonly tracer: Telemetry["tracer"];
  readonly permits: Permits;
  /** Reports whether the message runs here, and keeps its hint until that attempt has ended. */
  readonly waitsForEnd: (hint: Hint) => boolean;
  readonly mayClaim: () => boolean;
  /** Called with each claimed attempt, which has its permit. */
  readonly claimed: (attempt: Attempt<"calling">) => void;
  /** Called when hints wait for a tenant's cap: nothing that runs here may wake them. */
  readonly capped: () => void;
  /** Called when a batch has been claimed. */
  readonly ended: () => void;
};

/** The bounds of one claim. Its answer must be read well before its leases need their first renewal. */
const claimMax = { count: 200, bytes: limits.readBytesMax };
const lookAgainMs = 1_000;
const pullMax = 500;
/** The number of tenants pulled at once: one by one thousands would wait for each other, and all at once would flood the store. */
const pulledAtOnceMax = 8;

type Taken = { readonly hint: Hint; readonly permit: Permit };

export class Claiming implements Freed {
  readonly #ports: ClaimingPorts;
  readonly #parts: ClaimingParts;
  readonly #lines = new Lines();
  /** Hints with permits, which wait until the batch on its way has been claimed. */
  #toClaim: Taken[] = [];
  #toClaimBytes = 0;
  #taking = false;
  #claiming = false;
  #pulling = false;
  /** Cancels the next look. Set for a while after the store failed; nothing is pulled meanwhile. */
  #callOff: (() => void) | undefined;

  constructor(ports: ClaimingPorts, parts: ClaimingParts) {
    this.#ports = ports;
    this.#parts = parts;
  }

  /** Reports whether a batch is on its way to the store. */
  get isClaiming(): boolean {
    return this.#claiming;
  }

  /** The number of hints that wait here. */
  get waiting(): number {
    return this.#lines.size + this.#toClaim.length;
  }

  /** The number of hints that wait for this process' slots: 0 while a slot is free, since a limit of their own holds the rest back. */
  get waitingForSlot(): number {
    const { permits } = this.#parts;
    return permits.anyFree ? 0 : this.#lines.countReady((tenant) => permits.mayTakeOfCap(tenant));
  }

  /** Reports whether there is room for more named messages. */
  get isOpenToNamed(): boolean {
    return this.#lines.isOpenToNamed;
  }

  add(hints: readonly Hint[]): void {
    for (const hint of hints) if (!this.#parts.waitsForEnd(hint)) this.#lines.add(hint);
  }

  /** Begins a named attempt, or puts it in line for a slot. Returns false when there is no room. */
  takeNamed(attempt: Attempt<"waiting">): boolean {
    if (this.#isNext(attempt)) {
      this.#begin(attempt);
      return true;
    }
    if (!this.#lines.hasRoomForNamed) return false;
    this.#lines.addClaimed(attempt);
    return true;
  }

  /** Begins an attempt whose place in line a publish has reserved, or puts it in line for a slot. */
  takeReserved(attempt: Attempt<"waiting">): void {
    if (this.#isNext(attempt)) return this.#begin(attempt);
    this.#lines.addClaimed(attempt);
    this.next();
  }

  /** Pulls this tenant's messages soon: some in the store may have no hint. */
  expect(tenant: TenantId): void {
    this.#lines.expect(tenant);
  }

  /** Empties the lines. Returns the hints for other deliverers, and the claimed attempts, whose claims the caller hands back. */
  giveAll(): { readonly hints: readonly Hint[]; readonly claimed: readonly Attempt<"waiting">[] } {
    this.#callOff?.();
    const toClaim = this.#takeToClaim();
    for (const { permit } of toClaim) permit.end();
    const all = this.#lines.giveAll();
    const hints = all.filter(isHint);
    return {
      hints: [...hints, ...toClaim.map(({ hint }) => hint)],
      claimed: all.filter(isClaimed),
    };
  }

  /** Reports whether a waiting hint goes before a new message: one of any tenant that may have a slot, or one in the same line. */
  isAheadOf(tenant: TenantId, origin: number, counted: number): boolean {
    if (this.#toClaim.length > 0) return true;
    if (this.#parts.permits.anyFree && this.#lines.anyReady(this.#parts.permits)) return true;
    return this.#lines.hasWaiting(tenant, origin, counted);
  }

  /** Claims messages for the free slots, and pulls when no hint is left for them. Not reentrant: a call may end at once. */
  next(): void {
    if (this.#taking) return;
    this.#taking = true;
    while (this.#parts.mayClaim() && this.#takeOne());
    this.#taking = false;
    if (this.#claiming || !this.#parts.mayClaim()) return;
    const mayRefill = this.#lines.anyOverdue || this.#toClaim.length === 0;
    if (this.#toClaim.length > 0) void this.#claim(this.#takeToClaim());
    if (mayRefill && this.#lines.anyDropped && !this.#callOff) void this.#refill();
  }

  /** Takes a slot for the next in turn: a claimed attempt begins, a hint joins the next batch. */
  #takeOne(): boolean {
    // With no slot free in the process a line must not be taken for blocked: nothing of its own origin may run that would unblock it.
    if (this.#isClaimFull || !this.#parts.permits.anyFree) return false;
    const next = this.#lines.take(this.#parts.permits);
    if (!next) return false;
    if (isClaimed(next)) this.#begin(next);
    else {
      this.#toClaim.push({ hint: next, permit: this.#parts.permits.take(next) });
      this.#toClaimBytes += countedBytes(next.bytes);
    }
    return true;
  }

  get #isClaimFull(): boolean {
    return this.#toClaim.length >= claimMax.count || this.#toClaimBytes >= claimMax.bytes;
  }

  /** Reports whether the message may begin now, without joining a line: a map emptied again and again costs a table each time (ADR 11). */
  #isNext(attempt: Attempt): boolean {
    const { tenant, origin, bytes } = attempt;
    return (
      !this.#taking &&
      this.#parts.mayClaim() &&
      !this.isAheadOf(tenant, origin, countedBytes(bytes)) &&
      this.#parts.permits.anyFree &&
      this.#parts.permits.isFree(attempt)
    );
  }

  #begin(attempt: Attempt<"waiting">): void {
    const { place } = attempt.state;
    const permit = place ? place.begin() : this.#parts.permits.take(attempt);
    this.#parts.claimed(begin(attempt, permit, this.#ports.clock));
  }

  /** Looks again at the line of an origin that may have a slot. */
  unblock(tenant: TenantId, origin: number): void {
    this.#lines.unblock(tenant, origin);
  }

  /** Looks again at the lines of heavy messages. */
  unblockHeavy(all: boolean): void {
    this.#lines.unblockHeavy(all);
  }

  /** Looks again at some of the blocked lines, each time at different ones. */
  unblockSome(): void {
    this.#lines.unblockSome();
  }

  #takeToClaim(): readonly Taken[] {
    this.#toClaimBytes = 0;
    return this.#toClaim.splice(0);
  }

  async #claim(hinted: readonly Taken[]): Promise<void> {
    this.#claiming = true;
    const anyCapped = hinted.some(({ hint }) => this.#parts.permits.isCapped(hint.tenant));
    const taken = anyCapped ? await this.#withinCaps(hinted) : hinted;
    if (taken.length > 0) await this.#claimAll(taken);
    this.#claiming = false;
    this.#parts.ended();
  }

  /** Resolves to the hints that their tenants' caps allow; the rest go back into their lines. */
  async #withinCaps(taken: readonly Taken[]): Promise<readonly Taken[]> {
    const byTenant = Map.groupBy(taken, ({ hint }) => hint.tenant);
    const allowed = await Promise.all(
      [...byTenant].map(async ([tenant, its]) => {
        const ids = its.map(({ hint }) => hint.id);
        const granted = await this.#parts.permits.takeOfCap(tenant, ids);
        for (const each of its) {
          if (granted.has(each.hint.id)) continue;
          each.permit.end();
          this.#lines.add(each.hint);
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
        its.permit.weigh(sentBytes(record.message));
        const attempt = newAttempt(record, its.hint.origin, askedAt, clock);
        this.#parts.claimed(begin(attempt, its.permit, clock));
      }
    } catch (error) {
      log.warn("claim.failed", { error, hints: batch });
      // The hints are lost and their alarms are far ahead.
      for (const { hint } of taken) this.#lines.expect(hint.tenant);
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
      this.next();
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
      while (this.#parts.mayClaim()) {
        const drained = this.#lines.drained(this.#parts.permits, pulledAtOnceMax, asked);
        if (drained.length === 0) break;
        for (const { tenant } of drained) asked.add(tenant);
        const found = await Promise.all(drained.map((each) => this.#pull(each)));
        if (found.every((count) => count === 0)) continue;
        isAnyFound = true;
        this.next();
      }
    } catch (error) {
      this.#ports.log.warn("pull.failed", { error });
      this.#lookAgain();
    }
    this.#pulling = false;
    // A pulled tenant may have run dry again.
    if (isAnyFound) this.next();
  }

  /** Resolves to how many pulled hints were added. */
  async #pull(drained: Drained): Promise<number> {
    const hints = await this.#ports.records.pull(drained.tenant, pullMax, drained.except);
    const fresh = hints.filter((hint) => !this.#parts.waitsForEnd(hint));
    return this.#lines.pulled(drained, fresh, hints.length >= pullMax && fresh.length > 0);
  }
}
