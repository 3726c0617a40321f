/**
 * The buffer of hints: a round robin over tenants, then over origins (docs/design/delivery#hints-and-slots). Owned by the deliverer.
 *
 * (1) It is bounded, of a tenant to its share; what does not fit is dropped, and its tenant remembered: the record is in
 *     the store.
 * (2) An origin without a free slot does not hold up the rest of its tenant, nor a tenant without one the other tenants.
 * (3) Messages with heavy bodies stand in a line of their own beside that of their origin: while they wait for bytes,
 *     the light ones go on.
 * (4) What was dropped of a line does not wait until those that come after it leave a place free: the store is asked
 *     again while the line goes on.
 * (5) A question costs nothing for lines that wait, however many there are, and changes nothing.
 */
import { type MessageId, shareOf, type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { countedBytes } from "./body-bytes.ts";

/** Whether there is room for a call: a slot, and bytes for its body. */
export type Room = {
  /** A slot, for some origin. */
  readonly isFreeFor: (tenant: TenantId) => boolean;
  readonly isFree: (hint: Hint) => boolean;
};

export type BufferBounds = {
  /** Of a line, without what was pulled. */
  readonly perOriginMax: number;
  readonly totalMax: number;
  /** After so many hints taken of a line of which something was dropped, the store is asked for the oldest. */
  readonly askAgainAfter: number;
};

/** Some of a tenant's messages may be in the store alone. */
export type Drained = {
  readonly tenant: TenantId;
  /** Origins that nothing is to be pulled of: what there is room for of theirs is here. */
  readonly except: readonly number[];
  /** Hints that are here, of the other origins. */
  readonly known: ReadonlySet<MessageId>;
};

type TenantQueue = {
  readonly tenant: TenantId;
  /** Lines with, as far as known, room for their first; in turn. */
  readonly ready: Map<LineKey, Hint[]>;
  /** Lines that wait for a slot of their origin, or for bytes. */
  readonly blocked: Map<LineKey, Hint[]>;
  /** Hints in both. */
  size: number;
  /** Lines that were full, and of which something was dropped; with how many were taken of each since the store was asked. */
  readonly lacking: Map<LineKey, number>;
  /** Something was dropped since the store was asked. */
  droppedSince: boolean;
  /** Beside the blocked origins, a pull has found nothing, and since then no line has run dry and nothing was dropped. */
  othersAsked: boolean;
};

/** An origin's hash, which has 32 bits, and above them whether the bodies are heavy. */
type LineKey = number;
const heavyLine = 2 ** 32;
const lineKey = (origin: number, counted: number): LineKey =>
  counted > 0 ? origin + heavyLine : origin;
const originOf = (key: LineKey): number => key % heavyLine;

/** So many tenants are looked at for one that may have a slot; the rest have their look the next time. */
const looksMax = 256;
/** So many heavy lines have another look when bytes become free: one that has freed them has room for few. */
const unblockedHeavyMax = 16;
/** So many lines of a tenant, and of all, have another look at each of `unblockSome`. */
const unblockedOfTenantMax = 256;
const unblockedMax = 2_048;
/** So many tenants wait for one origin and have another look when one of its slots is free: one has room for few. */
const unblockedTenantsMax = 16;

export class HintBuffer {
  readonly #bounds: BufferBounds;
  readonly #tenants = new Map<TenantId, TenantQueue>();
  /** Those with lines that are ready, in turn. */
  readonly #ready = new Set<TenantQueue>();
  /** Those with lines that are blocked; the first has had no look for the longest. */
  readonly #blocked = new Set<TenantQueue>();
  /** The same by their lines, of light and of heavy messages. */
  readonly #light = new Map<LineKey, Set<TenantQueue>>();
  readonly #heavy = new Map<LineKey, Set<TenantQueue>>();
  /** Those of which something was dropped that no pull has brought back; and those that may have something. */
  readonly #dropped = new Set<TenantQueue>();
  readonly #expected = new Set<TenantQueue>();
  /** Those of the first with a line that has gone on for long since. */
  readonly #overdue = new Set<TenantQueue>();
  #size = 0;

  constructor(bounds: BufferBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#size;
  }

  /** Hints in lines that are not blocked, of tenants that may have more calls. */
  countReady(mayHaveMore: (tenant: TenantId) => boolean): number {
    let count = 0;
    for (const { tenant, ready } of this.#ready)
      if (mayHaveMore(tenant)) for (const line of ready.values()) count += line.length;
    return count;
  }

  /** A hint of this tenant stands in the same line already: a newcomer must not overtake. */
  hasWaiting(tenant: TenantId, origin: number, counted: number): boolean {
    const queue = this.#tenants.get(tenant);
    const key = lineKey(origin, counted);
    return (
      queue !== undefined && (this.#lacks(queue) || queue.ready.has(key) || queue.blocked.has(key))
    );
  }

  /** Whether a hint may be taken, as far as is known without a look at its line. */
  anyReady(isFreeFor: Room["isFreeFor"]): boolean {
    let looks = 0;
    for (const { tenant } of this.#ready) if (++looks > looksMax || isFreeFor(tenant)) return true;
    return false;
  }

  /** False: there was no place for it. */
  add(hint: Hint): boolean {
    return this.#add(hint, this.#bounds.perOriginMax);
  }

  /** The deliverer, which holds its claim, bounds how many there are: it has a place in a line that is full of hints. */
  addClaimed(hint: Hint): boolean {
    return this.#add(hint, Number.POSITIVE_INFINITY);
  }

  #add(hint: Hint, lineMax: number): boolean {
    const queue = this.#queueOf(hint.tenant);
    const key = lineKey(hint.origin, countedBytes(hint.bytes));
    const blocked = queue.blocked.get(key);
    const line = blocked ?? queue.ready.get(key) ?? [];
    const isFull = line.length >= lineMax;
    if (isFull || !this.#hasPlaceFor(queue)) {
      this.#dropped.add(queue);
      queue.droppedSince = true;
      if (isFull && !queue.lacking.has(key)) queue.lacking.set(key, 0);
      if (!blocked) queue.othersAsked = false;
      return false;
    }
    line.push(hint);
    this.#size += 1;
    queue.size += 1;
    if (blocked) return true;
    queue.ready.set(key, line);
    this.#ready.add(queue);
    return true;
  }

  /** The next hint for which there is room. Each tenant that is looked at goes to the end of the round. */
  take(room: Room): Hint | undefined {
    let looks = Math.min(looksMax, this.#ready.size);
    for (const queue of this.#ready) {
      if (looks-- === 0) break;
      this.#ready.delete(queue);
      const hint = room.isFreeFor(queue.tenant) ? this.#takeOf(queue, room) : undefined;
      if (queue.ready.size > 0) this.#ready.add(queue);
      this.#forgetIfEmpty(queue);
      if (hint) return hint;
    }
    return undefined;
  }

  /** A slot of this origin is free again: its tenant's, and room for a few more. */
  unblock(tenant: TenantId, origin: number): void {
    const queue = this.#tenants.get(tenant);
    for (const [key, blocked] of [
      [origin, this.#light],
      [origin + heavyLine, this.#heavy],
    ] as const) {
      if (queue) this.#moveToReady(queue, key);
      let left = unblockedTenantsMax;
      for (const other of blocked.get(key) ?? []) {
        if (left-- === 0) break;
        this.#moveToReady(other, key);
      }
    }
  }

  /** Bytes are free again; `all`: nothing else will free any. */
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
   * What was blocked for another reason than its origin may be free by now: the share of its tenant or address grows when
   * other tenants hold less. Some of some tenants, the next time different ones.
   */
  unblockSome(): void {
    let left = unblockedMax;
    for (const queue of [...this.#blocked]) {
      if (left <= 0) return;
      // To the end: if some of its lines stay blocked, they have their look after those of the rest.
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

  /** A line has gone on for long since something of it was dropped. */
  get anyOverdue(): boolean {
    return this.#overdue.size > 0;
  }

  get anyDropped(): boolean {
    return this.#dropped.size + this.#expected.size > 0;
  }

  /**
   * Of the tenants of whom something may be in the store, and of whom nothing is left here that could run or something was
   * dropped of a line that has gone on for long, so many that were not asked for: pull theirs. Those of whom something was
   * dropped go first.
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
   * A pull has answered what `drained` has asked for; `more`: it was full, so that there may be more. Only a pull without
   * exceptions, during which nothing was dropped, shows that nothing dropped is left. Answers how many had a place here.
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
    // The pull bounds how many there are; a line that these keep full takes no newcomers.
    const added = hints
      .filter(({ id }) => !known.has(id))
      .filter((hint) => this.#add(hint, Number.POSITIVE_INFINITY));
    this.#forgetIfEmpty(queue);
    return added.length;
  }

  /** This tenant may have something in the store for which no hint came. */
  expect(tenant: TenantId): void {
    this.#expected.add(this.#queueOf(tenant));
  }

  /** All that waits here, for other deliverers to go on with: it waits here no more. */
  giveAll(): readonly Hint[] {
    const queues = [...this.#tenants.values()];
    for (const kept of [this.#tenants, this.#light, this.#heavy]) kept.clear();
    for (const kept of [this.#ready, this.#blocked, this.#dropped, this.#expected, this.#overdue])
      kept.clear();
    this.#size = 0;
    return queues.flatMap(({ ready, blocked }) => [...ready.values(), ...blocked.values()].flat());
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
      for (const [key, line] of lines) {
        if (overdue.has(originOf(key))) for (const { id } of line) known.add(id);
        else except.add(originOf(key));
      }
    }
    for (const key of queue.lacking.keys())
      if (!except.has(originOf(key))) queue.lacking.set(key, 0);
    queue.droppedSince = false;
    return { tenant: queue.tenant, except: [...except], known };
  }

  #takeOf(queue: TenantQueue, room: Room): Hint | undefined {
    const key = this.#nextLine(queue, room);
    if (key === undefined) return undefined;
    const line = queue.ready.get(key) ?? [];
    const hint = line.shift();
    queue.ready.delete(key);
    if (line.length > 0) queue.ready.set(key, line);
    else queue.othersAsked = false;
    this.#countTaken(queue, key);
    this.#size -= 1;
    queue.size -= 1;
    return hint;
  }

  /** The first in turn for whose first hint there is room; those before it are blocked from now on. */
  #nextLine(queue: TenantQueue, room: Room): LineKey | undefined {
    for (const [key, line] of queue.ready) {
      const [hint] = line;
      if (hint && room.isFree(hint)) return key;
      this.#moveToBlocked(queue, key, line);
    }
    return undefined;
  }

  #moveToBlocked(queue: TenantQueue, key: LineKey, line: Hint[]): void {
    queue.ready.delete(key);
    queue.blocked.set(key, line);
    this.#blocked.add(queue);
    const byLine = this.#byLine(key);
    const queues = byLine.get(key);
    if (queues) queues.add(queue);
    else byLine.set(key, new Set([queue]));
  }

  #moveToReady(queue: TenantQueue, key: LineKey): void {
    const line = queue.blocked.get(key);
    if (!line) return;
    queue.blocked.delete(key);
    if (queue.blocked.size === 0) this.#blocked.delete(queue);
    const byLine = this.#byLine(key);
    const queues = byLine.get(key);
    queues?.delete(queue);
    if (queues?.size === 0) byLine.delete(key);
    queue.ready.set(key, line);
    this.#ready.add(queue);
  }

  #byLine(key: LineKey): Map<LineKey, Set<TenantQueue>> {
    return key >= heavyLine ? this.#heavy : this.#light;
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
      size: 0,
      lacking: new Map(),
      droppedSince: false,
      othersAsked: false,
    };
    this.#tenants.set(tenant, queue);
    return queue;
  }
}

const isDry = ({ ready, blocked, othersAsked }: TenantQueue): boolean =>
  ready.size === 0 && !(blocked.size > 0 && othersAsked);
