/**
 * The buffer of hints: a round robin over tenants, then over origins (docs/design/delivery#hints-and-slots). Owned by the deliverer.
 *
 * (1) It is bounded, of a tenant to its share; what does not fit is dropped, and its tenant remembered: the record is in
 *     the store.
 * (2) An origin without a free slot does not hold up the rest of its tenant, nor a tenant without one the other tenants.
 * (3) Messages with heavy bodies stand in a line of their own beside that of their origin: while they wait for bytes,
 *     the light ones go on.
 */
import { shareOf, type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { countedBytes } from "./body-bytes.ts";

/** Whether there is room for a call: a slot, and bytes for its body. */
export type Room = {
  /** A slot, for some origin. */
  readonly isFreeFor: (tenant: TenantId) => boolean;
  readonly isFree: (hint: Hint) => boolean;
};

export type BufferBounds = { readonly perOriginMax: number; readonly totalMax: number };

type TenantQueue = {
  readonly tenant: TenantId;
  /** Lines with, as far as known, room for their first; in turn. */
  readonly ready: Map<LineKey, Hint[]>;
  /** Lines that wait for a slot of their origin, or for bytes. */
  readonly blocked: Map<LineKey, Hint[]>;
  /** Hints in both. */
  size: number;
  /** Something was dropped that no pull has brought back. */
  dropped: boolean;
  /** Beside the blocked origins, a pull has found nothing, and since then no line has run dry and nothing was dropped. */
  othersAsked: boolean;
};

/** An origin's hash, which has 32 bits, and above them whether the bodies are heavy. */
type LineKey = number;
const heavyLine = 2 ** 32;
const lineKey = (origin: number, counted: number): LineKey =>
  counted > 0 ? origin + heavyLine : origin;
const originOf = (key: LineKey): number => key % heavyLine;

/** So many heavy lines have another look when bytes become free: one that has freed them has room for few. */
const unblockedMax = 16;
/** So many lines of a tenant have another look at each of `unblockSome`. */
const unblockedAtOnceMax = 256;

export class HintBuffer {
  readonly #bounds: BufferBounds;
  readonly #tenants = new Map<TenantId, TenantQueue>();
  #size = 0;

  constructor(bounds: BufferBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#size;
  }

  /** A hint of this tenant stands in the same line already: a newcomer must not overtake. */
  hasWaiting(tenant: TenantId, origin: number, counted: number): boolean {
    const queue = this.#size === 0 ? undefined : this.#tenants.get(tenant);
    const key = lineKey(origin, counted);
    return queue !== undefined && (queue.dropped || queue.ready.has(key) || queue.blocked.has(key));
  }

  add(hint: Hint): void {
    const queue = this.#queueOf(hint.tenant);
    const key = lineKey(hint.origin, countedBytes(hint.bytes));
    const blocked = queue.blocked.get(key);
    const line = blocked ?? queue.ready.get(key) ?? [];
    if (line.length >= this.#bounds.perOriginMax || !this.#hasPlaceFor(queue)) {
      queue.dropped = true;
      if (!blocked) queue.othersAsked = false;
      return;
    }
    line.push(hint);
    this.#size += 1;
    queue.size += 1;
    if (!blocked) queue.ready.set(key, line);
  }

  /** Whether there is room for some hint. */
  anyFree(room: Room): boolean {
    if (this.#size === 0) return false;
    for (const queue of this.#tenants.values())
      if (room.isFreeFor(queue.tenant) && this.#nextLine(queue, room) !== undefined) return true;
    return false;
  }

  /** The next hint for which there is room. Whoever is taken goes to the end of the round. */
  take(room: Room): Hint | undefined {
    if (this.#size === 0) return undefined;
    for (const [tenant, queue] of this.#tenants) {
      const hint = room.isFreeFor(tenant) ? this.#takeOf(queue, room) : undefined;
      if (!hint) continue;
      this.#tenants.delete(tenant);
      if (queue.dropped || queue.ready.size + queue.blocked.size > 0)
        this.#tenants.set(tenant, queue);
      return hint;
    }
    return undefined;
  }

  /** A slot of this origin is free again. */
  unblock(origin: number): void {
    if (this.#size === 0) return;
    for (const queue of this.#tenants.values()) {
      moveToReady(queue, origin);
      moveToReady(queue, origin + heavyLine);
    }
  }

  /** Bytes are free again; `all`: nothing else will free any. */
  unblockHeavy(all: boolean): void {
    if (this.#size === 0) return;
    let left = all ? Number.POSITIVE_INFINITY : unblockedMax;
    for (const queue of this.#tenants.values()) {
      for (const key of queue.blocked.keys()) {
        if (left === 0) return;
        if (key >= heavyLine && moveToReady(queue, key)) left -= 1;
      }
    }
  }

  /**
   * What was blocked for another reason than its origin may be free by now: the share of its tenant or address grows when
   * other tenants hold less. Some of each tenant, the next time different ones.
   */
  unblockSome(): void {
    if (this.#size === 0) return;
    for (const queue of this.#tenants.values()) {
      let left = unblockedAtOnceMax;
      for (const key of queue.blocked.keys()) {
        if (left-- === 0) break;
        moveToReady(queue, key);
      }
    }
  }

  get anyDropped(): boolean {
    for (const queue of this.#tenants.values()) if (queue.dropped) return true;
    return false;
  }

  /** Tenants of whom something was dropped and nothing is left that could run: pull theirs from the store. */
  drained(
    room: Room,
  ): readonly { readonly tenant: TenantId; readonly blocked: readonly number[] }[] {
    const dry: { tenant: TenantId; blocked: readonly number[] }[] = [];
    for (const queue of this.#tenants.values()) {
      if (!queue.dropped || queue.ready.size > 0 || !room.isFreeFor(queue.tenant)) continue;
      if (queue.blocked.size > 0 && queue.othersAsked) continue;
      dry.push({
        tenant: queue.tenant,
        blocked: [...new Set([...queue.blocked.keys()].map(originOf))],
      });
    }
    return dry;
  }

  /**
   * A pull has answered, apart from the origins `except`; `more`: it was full, so that there may be more. Only a pull
   * without exceptions shows that nothing dropped is left.
   */
  pulled(
    tenant: TenantId,
    hints: readonly Hint[],
    { except, more }: { except: number; more: boolean },
  ): void {
    const queue = this.#queueOf(tenant);
    queue.dropped = more || except > 0;
    queue.othersAsked = !more;
    for (const hint of hints) this.add(hint);
    if (!queue.dropped && queue.ready.size + queue.blocked.size === 0) this.#tenants.delete(tenant);
  }

  /** This tenant may have something in the store for which no hint came. */
  expect(tenant: TenantId): void {
    this.#queueOf(tenant).dropped = true;
  }

  /** All that waits here, for other deliverers to go on with: it waits here no more. */
  giveAll(): readonly Hint[] {
    const queues = [...this.#tenants.values()];
    this.#tenants.clear();
    this.#size = 0;
    return queues.flatMap(({ ready, blocked }) => [...ready.values(), ...blocked.values()].flat());
  }

  #takeOf(queue: TenantQueue, room: Room): Hint | undefined {
    const key = this.#nextLine(queue, room);
    if (key === undefined) return undefined;
    const line = queue.ready.get(key) ?? [];
    const hint = line.shift();
    queue.ready.delete(key);
    if (line.length > 0) queue.ready.set(key, line);
    else queue.othersAsked = false;
    this.#size -= 1;
    queue.size -= 1;
    return hint;
  }

  /** The first in turn for whose first hint there is room; those before it are blocked from now on. */
  #nextLine({ ready, blocked }: TenantQueue, room: Room): LineKey | undefined {
    for (const [key, line] of ready) {
      const [hint] = line;
      if (hint && room.isFree(hint)) return key;
      ready.delete(key);
      blocked.set(key, line);
    }
    return undefined;
  }

  #hasPlaceFor({ size }: TenantQueue): boolean {
    const { totalMax } = this.#bounds;
    return this.#size < totalMax && size < shareOf(totalMax, this.#size - size);
  }

  #queueOf(tenant: TenantId): TenantQueue {
    const known = this.#tenants.get(tenant);
    if (known) return known;
    const queue: TenantQueue = {
      tenant,
      ready: new Map(),
      blocked: new Map(),
      size: 0,
      dropped: false,
      othersAsked: false,
    };
    this.#tenants.set(tenant, queue);
    return queue;
  }
}

function moveToReady(queue: TenantQueue, key: LineKey): boolean {
  const line = queue.blocked.get(key);
  if (!line) return false;
  queue.blocked.delete(key);
  queue.ready.set(key, line);
  return true;
}
