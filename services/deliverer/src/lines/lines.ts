/**
 * The lines of whatever waits for a permit: a round robin over tenants, then over lines (docs/design/delivery#hints-and-slots).
 *
 * (1) Hints are bounded in number, and each tenant has a share of it. A hint that does not fit is dropped, and its tenant is remembered: the
 *     message is in the store. Where a tenant's share is full, its blocked lines give places up to its short ones.
 * (2) An origin without a free slot holds up no other origin of its tenant, and a tenant without one no other tenant.
 * (3) An origin has a line of hints and a line of messages that their inserts have claimed, and both again for heavy messages. Its lines
 *     take turns: a backlog holds up no newcomer, newcomers hold up no backlog, and light messages go on while heavy ones wait for bytes.
 * (4) A hint that a full line dropped is asked for again after every `askAgainAfter` hints taken, so newcomers cannot starve it.
 * (5) A question costs nothing for the lines that wait, however many there are, and changes nothing.
 * (6) Messages that their inserts have claimed hold their bodies, so they have bounds of their own: reservations bound those of a publish
 *     of this process, `namedMax` the rest.
 */
import { configurationBytes, shareOf, type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { type Attempt } from "../attempts/attempt.ts";
import { type Caps } from "../permits/caps.ts";
import { type Drained, isClaimed, type Line, TenantLines, type Waiting } from "./tenant-lines.ts";

/** Tells whether a call may begin: whether a slot is free, and bytes for its body. */
export type Vacancy = {
  /** Reports whether the tenant may have a slot for some origin. */
  isFreeFor(tenant: TenantId): boolean;
  isFree(waiting: Waiting): boolean;
};

type Bounds = {
  /** The hints of one line, without pulled ones. */
  readonly perOriginMax: number;
  /** A line shorter than this gets the places of longer blocked lines of its tenant. */
  readonly perOriginMin: number;
  readonly totalMax: number;
  /** After this many hints taken from a line that has dropped some, the store is asked for the oldest. */
  readonly askAgainAfter: number;
};

const bounds: Bounds = {
  ...{ perOriginMin: 100, perOriginMax: 1_000, totalMax: 50_000 },
  // A pull brings up to 500 hints, so up to half of the next 1,000 calls.
  askAgainAfter: 1_000,
};
/** Above these bounds of claimed messages the roster says that the deliverer is closed, so gateways name another. */
const namedOpenMax = { count: 1_000, bytes: 16 * 1024 * 1024 };
/**
 * Above these bounds named messages are handed back. They are wider, since gateways go on naming for about a second,
 * and a hand-back costs a write and a claim.
 */
const namedMax = { count: 5_000, bytes: 32 * 1024 * 1024 };

/** The tenants that one search for a slot looks at; the next search continues after them. */
const looksMax = 256;
/** The heavy lines looked at again when a body is freed: its bytes have room for few. */
const unblockedHeavyMax = 16;
/** The lines of a tenant, and of all tenants, that one `unblockSome` looks at. */
const unblockedOfTenantMax = 256;
const unblockedMax = 2_048;
/** The blocked lines that a search for a place looks at. */
const looksForPlaceMax = 16;
/** The lines of other tenants looked at again when a slot of their origin is freed: one slot is room for few. */
const unblockedAtOriginMax = 16;

export class Lines {
  /** Called when waiting messages may have their turn: more is free, or more waits. */
  readonly goOn: () => void;
  readonly #bounds: Bounds;
  readonly #tenants = new Map<TenantId, TenantLines>();
  /** Tenants with ready lines; the first is next. */
  readonly #ready = new Set<TenantLines>();
  /** Tenants with blocked lines; the first was looked at longest ago. */
  readonly #blocked = new Set<TenantLines>();
  /** The blocked lines by their origins, and the heavy ones. */
  readonly #blockedAt = new Map<number, Set<Line>>();
  readonly #heavy = new Set<Line>();
  /** Tenants with dropped hints that no pull has brought back, and tenants that may have messages without hints. */
  readonly #dropped = new Set<TenantLines>();
  readonly #expected = new Set<TenantLines>();
  /** Tenants of `#dropped` with a line from which `askAgainAfter` hints were taken since. */
  readonly #overdue = new Set<TenantLines>();
  #isClosed = false;
  #size = 0;
  #claimed = 0;
  #claimedBytes = 0;
  #turns = 0;

  constructor(goOn: () => void, within = bounds) {
    this.goOn = goOn;
    this.#bounds = within;
  }

  /** Reports whether the deliverer stops: waiting messages are given away. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
  }

  get size(): number {
    return this.#size;
  }

  /** Reports whether no message waits, here or in the store without a hint. */
  get isEmpty(): boolean {
    return this.#size + this.#dropped.size + this.#expected.size === 0;
  }

  /** Returns how many messages wait in ready lines of tenants that may have more calls. */
  countReady(caps: Pick<Caps, "mayTake">): number {
    let count = 0;
    for (const { tenant, ready } of this.#ready)
      if (caps.mayTake(tenant)) for (const { waiting } of ready.lines) count += waiting.length;
    return count;
  }

  /** Reports whether gateways may name this deliverer for more messages. */
  get isOpenToNamed(): boolean {
    return this.#claimed < namedOpenMax.count && this.#claimedBytes < namedOpenMax.bytes;
  }

  /** Reports whether the attempt of a claimed message may wait here. An attempt with a reserved place always may. */
  hasRoomFor({ state }: Attempt<"waiting">): boolean {
    const { count, bytes } = namedMax;
    return state.place !== undefined || (this.#claimed < count && this.#claimedBytes < bytes);
  }

  /** Reports whether a newcomer to this origin would overtake: an equally heavy message waits, or the tenant has messages without hints. */
  hasWaiting(tenant: TenantId, origin: number, bytes: number): boolean {
    const own = this.#tenants.get(tenant);
    return own !== undefined && (this.#lacks(own) || own.hasWaiting(origin, bytes));
  }

  /** Reports whether some ready tenant may have a slot, without looking at its lines. */
  anyReady(vacancy: Pick<Vacancy, "isFreeFor">): boolean {
    let looks = 0;
    for (const { tenant } of this.#ready)
      if (++looks > looksMax || vacancy.isFreeFor(tenant)) return true;
    return false;
  }

  /** Returns false when there was no place and the hint was dropped. */
  add(hint: Hint): boolean {
    return this.#add(hint, this.#bounds.perOriginMax);
  }

  /** Adds a message that its insert has claimed. There is always a place for it. */
  addClaimed(attempt: Attempt<"waiting">): void {
    this.#claimed += 1;
    this.#claimedBytes += weightOf(attempt);
    this.#push(this.#of(attempt.tenant), attempt);
  }

  #add(hint: Hint, lineMax: number): boolean {
    const own = this.#of(hint.tenant);
    const line = own.lineFor(hint);
    const length = line?.waiting.length ?? 0;
    const isFull = length >= lineMax;
    if (!isFull && (this.#hasPlaceFor(own) || this.#makePlace(own, length))) {
      this.#push(own, hint);
      return true;
    }
    own.drop(line, isFull);
    this.#dropped.add(own);
    return false;
  }

  /** Drops the last hint of a long blocked line for a line of `length` hints. Returns false when none of a few lines is long. */
  #makePlace(own: TenantLines, length: number): boolean {
    const { perOriginMin } = this.#bounds;
    if (length >= perOriginMin || !own.dropLast(perOriginMin, looksForPlaceMax)) return false;
    this.#size -= 1;
    this.#dropped.add(own);
    return true;
  }

  #push(own: TenantLines, next: Waiting): void {
    this.#size += 1;
    own.push(next, this.#turns++);
    if (own.ready.lines.size > 0) this.#ready.add(own);
  }

  /** Takes the next message whose call may begin. Each tenant looked at goes to the end of the round. */
  take(vacancy: Vacancy): Waiting | undefined {
    let looks = Math.min(looksMax, this.#ready.size);
    for (const own of this.#ready) {
      if (looks-- === 0) break;
      this.#ready.delete(own);
      const next = vacancy.isFreeFor(own.tenant) ? this.#takeOf(own, vacancy) : undefined;
      if (own.ready.lines.size > 0) this.#ready.add(own);
      this.#forgetIfEmpty(own);
      if (next) return next;
    }
    return undefined;
  }

  /** Makes lines of an origin with a freed slot ready: those of the tenant, and a few of other tenants. */
  unblock(tenant: TenantId, origin: number): void {
    const others = this.#blockedAt.get(origin);
    if (!others) return;
    for (const line of this.#tenants.get(tenant)?.linesAt(origin) ?? []) this.#unblock(line);
    let left = unblockedAtOriginMax;
    for (const line of others) {
      if (left-- === 0) break;
      this.#unblock(line);
    }
  }

  /** Makes heavy lines ready after bytes were freed. `all`: no body is in flight that would free more. */
  unblockHeavy(all: boolean): void {
    let left = all ? Number.POSITIVE_INFINITY : unblockedHeavyMax;
    for (const line of this.#heavy) {
      if (left-- === 0) return;
      this.#unblock(line);
    }
  }

  /**
   * Makes some blocked lines ready, different ones each time: the share of their tenant or address may have grown
   * because other tenants hold less.
   */
  unblockSome(): void {
    let left = unblockedMax;
    for (const own of [...this.#blocked]) {
      if (left <= 0) return;
      // The tenant goes to the end, behind tenants whose lines were looked at longer ago.
      this.#blocked.delete(own);
      this.#blocked.add(own);
      let leftOfTenant = Math.min(unblockedOfTenantMax, left);
      for (const line of own.blocked.lines) {
        if (leftOfTenant-- === 0) break;
        left -= 1;
        this.#unblock(line);
      }
    }
  }

  /** Reports whether a line has given `askAgainAfter` hints since it dropped one. */
  get anyOverdue(): boolean {
    return this.#overdue.size > 0;
  }

  get anyDropped(): boolean {
    return this.#dropped.size + this.#expected.size > 0;
  }

  /**
   * Returns up to `max` tenants to pull, leaving out `asked`: first tenants with an overdue line, then tenants with
   * dropped hints, then tenants that may have messages in the store. The latter two are pulled only when their lines
   * have run dry.
   */
  drained(vacancy: Vacancy, max: number, asked: ReadonlySet<TenantId>): readonly Drained[] {
    const found = new Set<TenantLines>();
    const mayAsk = (own: TenantLines) => found.size < max && !asked.has(own.tenant);
    for (const own of this.#overdue) if (mayAsk(own)) found.add(own);
    for (const tenants of [this.#dropped, this.#expected]) {
      for (const own of tenants) {
        if (found.size >= max) break;
        if (mayAsk(own) && own.isDry && vacancy.isFreeFor(own.tenant)) found.add(own);
      }
    }
    return [...found].map((own) => {
      this.#overdue.delete(own);
      return own.ask(this.#bounds.askAgainAfter);
    });
  }

  /**
   * Takes the answer to a pull, and returns how many hints were added. `more`: the answer was full, so the store may
   * have further messages.
   */
  pulled({ tenant, except, known }: Drained, hints: readonly Hint[], more: boolean): number {
    const own = this.#of(tenant);
    this.#expected.delete(own);
    this.#dropped.delete(own);
    if (own.answered(except, more)) this.#dropped.add(own);
    // These are bounded by the size of a pull. A line that they fill takes no newcomers.
    const added = hints
      .filter(({ id }) => !known.has(id))
      .filter((hint) => this.#add(hint, Number.POSITIVE_INFINITY));
    this.#forgetIfEmpty(own);
    return added.length;
  }

  /** Remembers that the tenant may have messages in the store without hints here. */
  expect(tenant: TenantId): void {
    this.#expected.add(this.#of(tenant));
  }

  giveAll(): readonly Waiting[] {
    const tenants = [...this.#tenants.values()];
    for (const kept of [this.#tenants, this.#blockedAt, this.#heavy, this.#ready]) kept.clear();
    for (const kept of [this.#blocked, this.#dropped, this.#expected, this.#overdue]) kept.clear();
    this.#size = 0;
    this.#claimed = 0;
    this.#claimedBytes = 0;
    return tenants.flatMap((own) => own.all());
  }

  #takeOf(own: TenantLines, vacancy: Vacancy): Waiting | undefined {
    const line = this.#nextLine(own, vacancy);
    if (line?.takenSince !== undefined && ++line.takenSince === this.#bounds.askAgainAfter)
      this.#overdue.add(own);
    const next = line && own.take(line, this.#turns++);
    if (!next) return undefined;
    this.#size -= 1;
    if (isClaimed(next)) {
      this.#claimed -= 1;
      this.#claimedBytes -= weightOf(next);
    }
    return next;
  }

  /** Returns the first line whose first message may be called, and blocks the lines before it. */
  #nextLine(own: TenantLines, vacancy: Vacancy): Line | undefined {
    for (const line of own.ready.lines) {
      const [first] = line.waiting;
      if (first && vacancy.isFree(first)) return line;
      this.#block(line);
    }
    return undefined;
  }

  #block(line: Line): void {
    const { isHeavy, origin, own } = line;
    own.block(line);
    this.#blocked.add(own);
    const atOrigin = this.#blockedAt.get(origin);
    if (atOrigin) atOrigin.add(line);
    else this.#blockedAt.set(origin, new Set([line]));
    if (isHeavy) this.#heavy.add(line);
  }

  #unblock(line: Line): void {
    const { origin, own } = line;
    if (!own.unblock(line)) return;
    if (own.blocked.lines.size === 0) this.#blocked.delete(own);
    const atOrigin = this.#blockedAt.get(origin);
    atOrigin?.delete(line);
    if (atOrigin?.size === 0) this.#blockedAt.delete(origin);
    this.#heavy.delete(line);
    this.#ready.add(own);
  }

  #lacks(own: TenantLines): boolean {
    return this.#dropped.has(own) || this.#expected.has(own);
  }

  #hasPlaceFor({ size }: TenantLines): boolean {
    const { totalMax } = this.#bounds;
    return this.#size < totalMax && size < shareOf(totalMax, this.#size - size);
  }

  #forgetIfEmpty(own: TenantLines): void {
    if (own.size === 0 && !this.#lacks(own)) this.#tenants.delete(own.tenant);
  }

  #of(tenant: TenantId): TenantLines {
    const known = this.#tenants.get(tenant);
    if (known) return known;
    const own = new TenantLines(tenant);
    this.#tenants.set(tenant, own);
    return own;
  }
}

const weightOf = ({ record: { message } }: Attempt): number =>
  message.body.length + configurationBytes(message);
