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
import { configurationBytes, type MessageId, shareOf, type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { type Attempt } from "./attempt.ts";
import { countedBytes } from "./body-bytes.ts";
import { type Caps } from "./caps.ts";

/** A hint, or the attempt of a message that its insert has claimed. */
type Waiting = Hint | Attempt<"waiting">;
export const isClaimed = (waiting: Waiting): waiting is Attempt<"waiting"> => "state" in waiting;
export const isHint = (waiting: Waiting): waiting is Hint => !isClaimed(waiting);

/** Tells whether there is room for a call: a slot, and bytes for its body. */
export type Room = {
  /** Reports whether the tenant may have a slot for some origin. */
  isFreeFor(tenant: TenantId): boolean;
  isFree(waiting: Waiting): boolean;
};

type Bounds = {
  /** The hints of one line, pulled ones not counted. */
  readonly perOriginMax: number;
  /** Up to so many, a line gets the places of longer lines of its tenant that are blocked. */
  readonly perOriginMin: number;
  readonly totalMax: number;
  /** After so many hints taken from a line that has dropped some, the store is asked for the oldest. */
  readonly askAgainAfter: number;
};

const bounds: Bounds = {
  ...{ perOriginMin: 100, perOriginMax: 1_000, totalMax: 50_000 },
  // Up to half of what is called next.
  askAgainAfter: 1_000,
};
/** Above these bounds of claimed messages, gateways are told to name another deliverer. */
const namedOpenMax = { count: 1_000, bytes: 16 * 1024 * 1024 };
/** Above these, named messages are handed back. Wider, since gateways go on naming for about a second, and a hand-back costs a write and a claim. */
const namedMax = { count: 5_000, bytes: 32 * 1024 * 1024 };

/** A tenant some of whose messages may be in the store without a hint here. */
export type Drained = {
  readonly tenant: TenantId;
  /** Origins not to pull: their lines have hints here. */
  readonly except: readonly number[];
  /** The hints here of the origins to pull. */
  readonly known: ReadonlySet<MessageId>;
};

type Line = {
  readonly waiting: Waiting[];
  /** When the line was made or last served, in turns: of the lines of an origin, the one with the lowest is next. */
  servedAt: number;
};

type TenantQueue = {
  readonly tenant: TenantId;
  /** Lines not known to lack room for their first hint; the first line is next. */
  readonly ready: Map<LineKey, Line>;
  /** Lines that wait for a slot of their origin or for bytes. */
  readonly blocked: Map<LineKey, Line>;
  /** The numbers of lines of `ready` and of `blocked` whose messages have to be claimed: only those are pulled. */
  readyToClaim: number;
  blockedToClaim: number;
  /** The number of those in `ready` and `blocked`. */
  size: number;
  /** By each full line that has dropped hints, how many were taken from it since the store was asked. */
  readonly lacking: Map<LineKey, number>;
  /** Whether a hint was dropped since the store was asked. */
  droppedSince: boolean;
  /** Whether the last pull left nothing beside the blocked origins; reset when a line runs dry or a hint is dropped. */
  othersAsked: boolean;
};

/** An origin's hash, of 32 bits, and above them a bit for heavy bodies and a bit for claimed messages. */
type LineKey = number;
const heavyLine = 2 ** 32;
const claimedLine = 2 ** 33;
/** The lines of an origin. */
const linesOf = [0, heavyLine, claimedLine, claimedLine + heavyLine] as const;
const lineKey = (origin: number, counted: number): LineKey =>
  counted > 0 ? origin + heavyLine : origin;
const originOf = (key: LineKey): number => key % heavyLine;
const isHeavy = (key: LineKey): boolean => key % claimedLine >= heavyLine;
const isOfClaimed = (key: LineKey): boolean => key >= claimedLine;

/** The tenants looked at in one search for a slot; the next search goes on with the rest. */
const looksMax = 256;
/** The heavy lines looked at again when a body is freed: its bytes are room for few. */
const unblockedHeavyMax = 16;
/** The lines of a tenant, and of all tenants, that one `unblockSome` looks at again. */
const unblockedOfTenantMax = 256;
const unblockedMax = 2_048;
/** The blocked lines looked at for a place. */
const looksForPlaceMax = 16;
/** The tenants whose lines are looked at again when a slot of their origin is freed: one slot is room for few. */
const unblockedTenantsMax = 16;

export class Lines {
  /** Says that what waits may have its turn: more is free, or more waits. */
  readonly next: () => void;
  readonly #bounds: Bounds;
  readonly #tenants = new Map<TenantId, TenantQueue>();
  /** Tenants with ready lines; the first is next. */
  readonly #ready = new Set<TenantQueue>();
  /** Tenants with blocked lines; the first was looked at longest ago. */
  readonly #blocked = new Set<TenantQueue>();
  /** The tenants of `#blocked` by the origins of their blocked lines, and by their blocked heavy lines. */
  readonly #blockedAt = new Map<number, Set<TenantQueue>>();
  readonly #heavy = new Map<LineKey, Set<TenantQueue>>();
  /** Tenants with dropped hints that no pull has brought back, and tenants that may have messages without hints. */
  readonly #dropped = new Set<TenantQueue>();
  readonly #expected = new Set<TenantQueue>();
  /** Tenants of `#dropped` with a line from which `askAgainAfter` hints were taken since. */
  readonly #overdue = new Set<TenantQueue>();
  #isClosed = false;
  #size = 0;
  #claimed = 0;
  #claimedBytes = 0;
  #turns = 0;

  constructor(next: () => void, within = bounds) {
    this.next = next;
    this.#bounds = within;
  }

  /** Reports whether the deliverer stops: what waits is given away. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the number of those in ready lines of tenants that may have more calls. */
  countReady(caps: Pick<Caps, "mayTake">): number {
    let count = 0;
    for (const { tenant, ready } of this.#ready)
      if (caps.mayTake(tenant)) for (const { waiting } of ready.values()) count += waiting.length;
    return count;
  }

  /** Reports whether gateways may name this deliverer for more messages. */
  get isOpenToNamed(): boolean {
    return this.#claimed < namedOpenMax.count && this.#claimedBytes < namedOpenMax.bytes;
  }

  /** Reports whether the attempt of a claimed message may wait here: one with a reserved place may. */
  hasRoomFor({ state }: Attempt<"waiting">): boolean {
    const { count, bytes } = namedMax;
    return state.place !== undefined || (this.#claimed < count && this.#claimedBytes < bytes);
  }

  /** Reports whether a newcomer to this origin would overtake: an equally heavy message waits, or the tenant has messages without hints. */
  hasWaiting(tenant: TenantId, origin: number, counted: number): boolean {
    const queue = this.#tenants.get(tenant);
    if (queue === undefined) return false;
    const key = lineKey(origin, counted);
    return (
      this.#lacks(queue) ||
      lineAt(queue, key) !== undefined ||
      lineAt(queue, key + claimedLine) !== undefined
    );
  }

  /** Reports whether some ready tenant may have a slot, without a look at its lines. */
  anyReady(room: Pick<Room, "isFreeFor">): boolean {
    let looks = 0;
    for (const { tenant } of this.#ready)
      if (++looks > looksMax || room.isFreeFor(tenant)) return true;
    return false;
  }

  /** Returns false when there is no place and the hint was dropped. */
  add(hint: Hint): boolean {
    return this.#add(hint, this.#bounds.perOriginMax);
  }

  /** Adds a message that its insert has claimed. There is always a place. */
  addClaimed(attempt: Attempt<"waiting">): void {
    const key = lineKey(attempt.origin, countedBytes(attempt.bytes)) + claimedLine;
    this.#claimed += 1;
    this.#claimedBytes += weightOf(attempt);
    this.#push(this.#queueOf(attempt.tenant), key, attempt);
  }

  #add(hint: Hint, lineMax: number): boolean {
    const queue = this.#queueOf(hint.tenant);
    const key = lineKey(hint.origin, countedBytes(hint.bytes));
    const length = lineAt(queue, key)?.waiting.length ?? 0;
    const isFull = length >= lineMax;
    if (!isFull && (this.#hasPlaceFor(queue) || this.#makePlace(queue, length))) {
      this.#push(queue, key, hint);
      return true;
    }
    this.#drop(queue, isFull ? key : undefined);
    if (!queue.blocked.has(key)) queue.othersAsked = false;
    return false;
  }

  /** Drops the last hint of a long blocked line for a line of `length` hints. Returns false when none of a few lines is long. */
  #makePlace(queue: TenantQueue, length: number): boolean {
    const { perOriginMin } = this.#bounds;
    let left = length < perOriginMin ? looksForPlaceMax : 0;
    for (const [key, { waiting }] of queue.blocked) {
      if (left-- === 0) return false;
      if (isOfClaimed(key) || waiting.length <= perOriginMin) continue;
      waiting.pop();
      this.#countOut(queue);
      this.#drop(queue, key);
      return true;
    }
    return false;
  }

  /** Remembers that a hint was dropped; `key` is the line that lacks the hint since, if that line goes on. */
  #drop(queue: TenantQueue, key: LineKey | undefined): void {
    this.#dropped.add(queue);
    queue.droppedSince = true;
    if (key !== undefined && !queue.lacking.has(key)) queue.lacking.set(key, 0);
  }

  #push(queue: TenantQueue, key: LineKey, next: Waiting): void {
    const line = lineAt(queue, key);
    this.#size += 1;
    queue.size += 1;
    if (line) {
      line.waiting.push(next);
      return;
    }
    queue.ready.set(key, { waiting: [next], servedAt: this.#turns++ });
    if (!isOfClaimed(key)) queue.readyToClaim += 1;
    this.#ready.add(queue);
  }

  /** Takes the next that has room. Each tenant looked at goes to the end of the round. */
  take(room: Room): Waiting | undefined {
    let looks = Math.min(looksMax, this.#ready.size);
    for (const queue of this.#ready) {
      if (looks-- === 0) break;
      this.#ready.delete(queue);
      const next = room.isFreeFor(queue.tenant) ? this.#takeOf(queue, room) : undefined;
      if (queue.ready.size > 0) this.#ready.add(queue);
      this.#forgetIfEmpty(queue);
      if (next) return next;
    }
    return undefined;
  }

  /** Makes the lines of an origin with a freed slot ready: the tenant's own and those of a few other tenants. */
  unblock(tenant: TenantId, origin: number): void {
    const others = this.#blockedAt.get(origin);
    if (!others) return;
    const own = this.#tenants.get(tenant);
    if (own) this.#unblockAt(own, origin);
    let left = unblockedTenantsMax;
    for (const other of others) {
      if (left-- === 0) break;
      this.#unblockAt(other, origin);
    }
  }

  /** Makes heavy lines ready after bytes were freed. `all`: no body is in flight that would free more. */
  unblockHeavy(all: boolean): void {
    let left = all ? Number.POSITIVE_INFINITY : unblockedHeavyMax;
    for (const [key, queues] of this.#heavy) {
      for (const queue of queues) {
        if (left-- === 0) return;
        this.#moveToReady(queue, key);
      }
    }
  }

  /**
   * Makes some blocked lines ready, each time different ones: the share of their tenant or address may have grown because other tenants
   * hold less.
   */
  unblockSome(): void {
    let left = unblockedMax;
    for (const queue of [...this.#blocked]) {
      if (left <= 0) return;
      // The tenant goes to the end: lines that stay blocked are looked at after those of the rest.
      this.#blocked.delete(queue);
      this.#blocked.add(queue);
      let leftOfTenant = Math.min(unblockedOfTenantMax, left);
      for (const key of queue.blocked.keys()) {
        if (leftOfTenant-- === 0) break;
        left -= 1;
        this.#moveToReady(queue, key);
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
   * Returns up to `max` tenants to pull, without those in `asked`: first the ones with an overdue line, then those with dropped hints, then
   * those that may have messages; the latter two only when they have run dry.
   */
  drained(room: Room, max: number, asked: ReadonlySet<TenantId>): readonly Drained[] {
    const found = new Set<TenantQueue>();
    const mayAsk = (queue: TenantQueue) => found.size < max && !asked.has(queue.tenant);
    for (const queue of this.#overdue) if (mayAsk(queue)) found.add(queue);
    for (const queues of [this.#dropped, this.#expected]) {
      for (const queue of queues) {
        if (found.size >= max) break;
        if (mayAsk(queue) && isDry(queue) && room.isFreeFor(queue.tenant)) found.add(queue);
      }
    }
    return [...found].map((queue) => this.#ask(queue));
  }

  /**
   * Takes the answer to a pull, and returns how many hints were added. `more`: the answer was full, so the store may have more. A tenant
   * counts as having no dropped hints only after a pull without exceptions during which none was dropped.
   */
  pulled({ tenant, except, known }: Drained, hints: readonly Hint[], more: boolean): number {
    const queue = this.#queueOf(tenant);
    this.#expected.delete(queue);
    this.#dropped.delete(queue);
    if (more || except.length > 0 || queue.droppedSince) this.#dropped.add(queue);
    if (!more && !queue.droppedSince && queue.lacking.size > 0) {
      const excepted = new Set(except);
      for (const key of queue.lacking.keys())
        if (!excepted.has(originOf(key))) queue.lacking.delete(key);
    }
    queue.othersAsked = !more;
    // The size of a pull bounds these. A line that they fill takes no newcomers.
    const added = hints
      .filter(({ id }) => !known.has(id))
      .filter((hint) => this.#add(hint, Number.POSITIVE_INFINITY));
    this.#forgetIfEmpty(queue);
    return added.length;
  }

  /** Remembers that the tenant may have messages in the store without hints here. */
  expect(tenant: TenantId): void {
    this.#expected.add(this.#queueOf(tenant));
  }

  /** Empties the lines and returns all that waited. */
  giveAll(): readonly Waiting[] {
    const queues = [...this.#tenants.values()];
    for (const kept of [this.#tenants, this.#blockedAt, this.#heavy]) kept.clear();
    for (const kept of [this.#ready, this.#blocked, this.#dropped, this.#expected, this.#overdue])
      kept.clear();
    this.#size = 0;
    this.#claimed = 0;
    this.#claimedBytes = 0;
    return queues.flatMap(({ ready, blocked }) =>
      [...ready.values(), ...blocked.values()].flatMap(({ waiting }) => waiting),
    );
  }

  #countTaken(queue: TenantQueue, key: LineKey): void {
    const taken = queue.lacking.get(key);
    if (taken === undefined) return;
    queue.lacking.set(key, taken + 1);
    if (taken + 1 === this.#bounds.askAgainAfter) this.#overdue.add(queue);
  }

  #ask(queue: TenantQueue): Drained {
    const overdue = new Set<number>();
    if (this.#overdue.delete(queue)) {
      for (const [key, taken] of queue.lacking)
        if (taken >= this.#bounds.askAgainAfter) overdue.add(originOf(key));
    }
    const except = new Set<number>();
    const known = new Set<MessageId>();
    for (const lines of [queue.ready, queue.blocked]) {
      for (const [key, { waiting }] of lines) {
        if (isOfClaimed(key)) continue;
        if (!overdue.has(originOf(key))) except.add(originOf(key));
        else for (const each of waiting) if (isHint(each)) known.add(each.id);
      }
    }
    for (const key of queue.lacking.keys())
      if (!except.has(originOf(key))) queue.lacking.set(key, 0);
    queue.droppedSince = false;
    return { tenant: queue.tenant, except: [...except], known };
  }

  #takeOf(queue: TenantQueue, room: Room): Waiting | undefined {
    const key = this.#nextLine(queue, room);
    if (key === undefined) return undefined;
    const line = queue.ready.get(key);
    if (!line) return undefined;
    const next = line.waiting.shift();
    line.servedAt = this.#turns++;
    queue.ready.delete(key);
    if (line.waiting.length > 0) queue.ready.set(key, line);
    else if (!isOfClaimed(key)) {
      queue.readyToClaim -= 1;
      queue.othersAsked = false;
    }
    this.#countTaken(queue, key);
    this.#countOut(queue);
    if (next && isClaimed(next)) this.#countClaimedOut(next);
    return next;
  }

  #countOut(queue: TenantQueue): void {
    this.#size -= 1;
    queue.size -= 1;
  }

  #countClaimedOut(attempt: Attempt): void {
    this.#claimed -= 1;
    this.#claimedBytes -= weightOf(attempt);
  }

  /** Returns the first line with room for its first, and blocks the lines before it. */
  #nextLine(queue: TenantQueue, room: Room): LineKey | undefined {
    for (const [key, line] of queue.ready) {
      const [first] = line.waiting;
      if (first && room.isFree(first)) return key;
      this.#moveToBlocked(queue, key, line);
    }
    return undefined;
  }

  #moveToBlocked(queue: TenantQueue, key: LineKey, line: Line): void {
    queue.ready.delete(key);
    queue.blocked.set(key, line);
    if (!isOfClaimed(key)) {
      queue.readyToClaim -= 1;
      queue.blockedToClaim += 1;
    }
    this.#blocked.add(queue);
    addTo(this.#blockedAt, originOf(key), queue);
    if (isHeavy(key)) addTo(this.#heavy, key, queue);
  }

  #moveToReady(queue: TenantQueue, key: LineKey): void {
    const line = queue.blocked.get(key);
    if (!line) return;
    queue.blocked.delete(key);
    if (!isOfClaimed(key)) {
      queue.blockedToClaim -= 1;
      queue.readyToClaim += 1;
    }
    if (queue.blocked.size === 0) this.#blocked.delete(queue);
    const origin = originOf(key);
    if (!linesOf.some((each) => queue.blocked.has(origin + each)))
      removeFrom(this.#blockedAt, origin, queue);
    if (isHeavy(key)) removeFrom(this.#heavy, key, queue);
    queue.ready.set(key, line);
    this.#ready.add(queue);
  }

  /** Makes the tenant's lines of an origin ready, the one served longest ago first. */
  #unblockAt(queue: TenantQueue, origin: number): void {
    const keys = linesOf.map((line) => origin + line).filter((key) => queue.blocked.has(key));
    const servedAt = (key: LineKey): number => queue.blocked.get(key)?.servedAt ?? 0;
    keys.sort((one, other) => servedAt(one) - servedAt(other));
    for (const key of keys) this.#moveToReady(queue, key);
  }

  #lacks(queue: TenantQueue): boolean {
    return this.#dropped.has(queue) || this.#expected.has(queue);
  }

  #hasPlaceFor({ size }: TenantQueue): boolean {
    const { totalMax } = this.#bounds;
    return this.#size < totalMax && size < shareOf(totalMax, this.#size - size);
  }

  #forgetIfEmpty(queue: TenantQueue): void {
    if (queue.size === 0 && !this.#lacks(queue)) this.#tenants.delete(queue.tenant);
  }

  #queueOf(tenant: TenantId): TenantQueue {
    const known = this.#tenants.get(tenant);
    if (known) return known;
    const queue: TenantQueue = {
      tenant,
      ready: new Map(),
      blocked: new Map(),
      readyToClaim: 0,
      blockedToClaim: 0,
      size: 0,
      lacking: new Map(),
      droppedSince: false,
      othersAsked: false,
    };
    this.#tenants.set(tenant, queue);
    return queue;
  }
}

const weightOf = ({ record: { message } }: Attempt): number =>
  message.body.length + configurationBytes(message);

const lineAt = ({ blocked, ready }: TenantQueue, key: LineKey): Line | undefined =>
  blocked.get(key) ?? ready.get(key);

const isDry = ({ readyToClaim, blockedToClaim, othersAsked }: TenantQueue): boolean =>
  readyToClaim === 0 && !(blockedToClaim > 0 && othersAsked);

function addTo<K>(sets: Map<K, Set<TenantQueue>>, key: K, queue: TenantQueue): void {
  const set = sets.get(key);
  if (set) set.add(queue);
  else sets.set(key, new Set([queue]));
}

function removeFrom<K>(sets: Map<K, Set<TenantQueue>>, key: K, queue: TenantQueue): void {
  const set = sets.get(key);
  set?.delete(queue);
  if (set?.size === 0) sets.delete(key);
}
