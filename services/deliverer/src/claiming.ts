/**
 * Claims messages, from the hint to the claimed record. Owns the buffer of hints, and claims one batch at a time.
 *
 * (1) A message is claimed only after a permit was taken for its call; until then it waits in the store.
 * (2) Messages whose hints the buffer dropped, or whose claim failed, are in the store. They are pulled when their tenant's lines have run
 *     dry, or when their line has gone on for long.
 * (3) Messages that their inserts claimed for this deliverer wait in lines beside the hints of their origins and need no claim. They hold
 *     their bodies, so they have bounds of their own: reservations bound those of a publish of this process, `namedMax` the rest.
 */
import {
  configurationBytes,
  limits,
  type Message,
  type MessageId,
  type Owner,
  sentBytes,
  type TenantId,
} from "@posthaste/domain";
import { hintOf } from "@posthaste/engine";
import { type Clock, type Hint, type Log, type Records, type Telemetry } from "@posthaste/ports";
import { type Attempt, begin, newAttempt } from "./attempt.ts";
import { countedBytes } from "./body-bytes.ts";
import { type Drained, HintBuffer, type Room } from "./buffer.ts";
import { type Lines, type Permit, type Permits } from "./permits.ts";
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
/** Above these bounds of named messages that wait for slots, gateways are told to name another deliverer. */
const namedOpenMax = { count: 1_000, bytes: 16 * 1024 * 1024 };
/** Above these, named messages are handed back. Wider, since gateways go on naming for about a second, and a hand-back costs a write and a claim. */
const namedMax = { count: 5_000, bytes: 32 * 1024 * 1024 };
const pullMax = 500;
/** While new hints keep a line going, its dropped messages are pulled after every thousand taken: up to half of what is called next. */
const buffered = {
  ...{ perOriginMin: 100, perOriginMax: 1_000, totalMax: 50_000 },
  askAgainAfter: 1_000,
};
/** The number of tenants pulled at once: one by one thousands would wait for each other, and all at once would flood the store. */
const pulledAtOnceMax = 8;

type Taken = { readonly hint: Hint; readonly permit: Permit };

export class Claiming implements Lines {
  readonly #ports: ClaimingPorts;
  readonly #parts: ClaimingParts;
  readonly #buffer = new HintBuffer(buffered);
  readonly #room: Room;
  /** The attempts of buffered hints whose messages their inserts have claimed. */
  readonly #inLine = new Map<MessageId, Attempt<"waiting">>();
  #inLineBytes = 0;
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
    const { permits } = parts;
    this.#room = {
      isFreeFor: (tenant) => permits.isFreeFor(tenant),
      isFree: (hint) => permits.isFree(hint),
    };
  }

  /** Reports whether a batch is on its way to the store. */
  get isClaiming(): boolean {
    return this.#claiming;
  }

  /** The number of hints that wait here. */
  get waiting(): number {
    return this.#buffer.size + this.#toClaim.length;
  }

  /** The number of hints that wait for this process' slots: 0 while a slot is free, since a limit of their own holds the rest back. */
  get waitingForSlot(): number {
    const { permits } = this.#parts;
    return permits.anyFree ? 0 : this.#buffer.countReady((tenant) => permits.mayTakeOfCap(tenant));
  }

  /** Reports whether there is room for more named messages. */
  get isOpenToNamed(): boolean {
    return this.#inLine.size < namedOpenMax.count && this.#inLineBytes < namedOpenMax.bytes;
  }

  add(hints: readonly Hint[]): void {
    for (const hint of hints) if (!this.#parts.waitsForEnd(hint)) this.#buffer.add(hint);
  }

  /** Begins a named attempt, or puts it in line for a slot. Returns false when there is no room. */
  takeNamed(hint: Hint, attempt: Attempt<"waiting">): boolean {
    if (this.#isNext(hint)) {
      this.#begin(hint, attempt);
      return true;
    }
    const { count, bytes } = namedMax;
    if (this.#inLine.size >= count || this.#inLineBytes >= bytes) return false;
    this.#wait(hint, attempt);
    return true;
  }

  /** Begins an attempt whose place in line a publish has reserved, or puts it in line for a slot. */
  takeReserved(attempt: Attempt<"waiting">): void {
    // The permit holds the bytes of its body already: the attempt waits for a slot alone.
    const hint = { ...hintOf(attempt.record), bytes: 0 };
    if (this.#isNext(hint)) return this.#begin(hint, attempt);
    this.#wait(hint, attempt);
    this.next();
  }

  #wait(hint: Hint, attempt: Attempt<"waiting">): void {
    this.#buffer.addClaimed(hint);
    this.#inLine.set(hint.id, attempt);
    this.#inLineBytes += weightOf(attempt.record.message);
  }

  /** Pulls this tenant's messages soon: some in the store may have no hint. */
  expect(tenant: TenantId): void {
    this.#buffer.expect(tenant);
  }

  /** Empties the lines. Returns the hints for other deliverers, and the claimed attempts, whose claims the caller hands back. */
  giveAll(): { readonly hints: readonly Hint[]; readonly claimed: readonly Attempt<"waiting">[] } {
    this.#callOff?.();
    const toClaim = this.#takeToClaim();
    for (const { permit } of toClaim) permit.end();
    const all = [...this.#buffer.giveAll(), ...toClaim.map(({ hint }) => hint)];
    const claimed = all.flatMap(({ id }) => this.#endWait(id) ?? []);
    const isClaimed = new Set(claimed.map(({ record }) => record.message.id));
    return { hints: all.filter(({ id }) => !isClaimed.has(id)), claimed };
  }

  /** Reports whether a waiting hint goes before a new message: one of any tenant that may have a slot, or one in the same line. */
  isAheadOf(tenant: TenantId, origin: number, counted: number): boolean {
    if (this.#toClaim.length > 0) return true;
    if (this.#parts.permits.anyFree && this.#buffer.anyReady(this.#room.isFreeFor)) return true;
    return this.#buffer.hasWaiting(tenant, origin, counted);
  }

  /** Claims messages for the free slots, and pulls when no hint is left for them. Not reentrant: a call may end at once. */
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

  /** Takes a slot for the next hint in turn: a claimed attempt begins, another hint joins the next batch. */
  #takeOne(): boolean {
    // With no slot free in the process a line must not be taken for blocked: nothing of its own origin may run that would unblock it.
    if (this.#isClaimFull || !this.#parts.permits.anyFree) return false;
    const hint = this.#buffer.take(this.#room);
    if (!hint) return false;
    const attempt = this.#endWait(hint.id);
    if (attempt) this.#begin(hint, attempt);
    else {
      this.#toClaim.push({ hint, permit: this.#parts.permits.take(hint) });
      this.#toClaimBytes += countedBytes(hint.bytes);
    }
    return true;
  }

  get #isClaimFull(): boolean {
    return this.#toClaim.length >= claimMax.count || this.#toClaimBytes >= claimMax.bytes;
  }

  /** Reports whether the message may begin now, without joining a line: a map emptied again and again costs a table each time (ADR 11). */
  #isNext(hint: Hint): boolean {
    const { tenant, origin, bytes } = hint;
    return (
      !this.#taking &&
      this.#parts.mayClaim() &&
      !this.isAheadOf(tenant, origin, countedBytes(bytes)) &&
      this.#parts.permits.anyFree &&
      this.#room.isFree(hint)
    );
  }

  #begin(hint: Hint, attempt: Attempt<"waiting">): void {
    const { place } = attempt.state;
    const permit = place ? place.begin() : this.#parts.permits.take(hint);
    this.#parts.claimed(begin(attempt, permit, this.#ports.clock));
  }

  /** Removes the attempt of this id from those in line, and returns it. */
  #endWait(id: MessageId): Attempt<"waiting"> | undefined {
    const attempt = this.#inLine.get(id);
    if (!attempt) return undefined;
    this.#inLine.delete(id);
    this.#inLineBytes -= weightOf(attempt.record.message);
    return attempt;
  }

  /** Looks again at the line of an origin that may have a slot. */
  unblock(tenant: TenantId, origin: number): void {
    this.#buffer.unblock(tenant, origin);
  }

  /** Looks again at the lines of heavy messages. */
  unblockHeavy(all: boolean): void {
    this.#buffer.unblockHeavy(all);
  }

  /** Looks again at some of the blocked lines, each time at different ones. */
  unblockSome(): void {
    this.#buffer.unblockSome();
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

  /** Resolves to the hints that their tenants' caps allow; the rest go back into the buffer. */
  async #withinCaps(taken: readonly Taken[]): Promise<readonly Taken[]> {
    const byTenant = Map.groupBy(taken, ({ hint }) => hint.tenant);
    const allowed = await Promise.all(
      [...byTenant].map(async ([tenant, its]) => {
        const ids = its.map(({ hint }) => hint.id);
        const granted = await this.#parts.permits.takeOfCap(tenant, ids);
        for (const each of its) {
          if (granted.has(each.hint.id)) continue;
          each.permit.end();
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
        its.permit.weigh(sentBytes(record.message));
        const attempt = newAttempt(record, its.hint.origin, askedAt, clock);
        this.#parts.claimed(begin(attempt, its.permit, clock));
      }
    } catch (error) {
      log.warn("claim.failed", { error, hints: batch });
      // The hints are lost and their alarms are far ahead.
      for (const { hint } of taken) this.#buffer.expect(hint.tenant);
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
        const drained = this.#buffer.drained(this.#room, pulledAtOnceMax, asked);
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
    return this.#buffer.pulled(drained, fresh, hints.length >= pullMax && fresh.length > 0);
  }
}

const weightOf = (message: Message): number => message.body.length + configurationBytes(message);
