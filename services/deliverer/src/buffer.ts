/**
 * The buffer of hints: a round robin over tenants, then over origins (decisions.md 7). Owned by the deliverer.
 *
 * B1  It is bounded; what does not fit is dropped, and its tenant remembered: the record is in the store.
 * B2  An origin without a free slot does not hold up the others of its tenant.
 */
import { type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";

export type BufferBounds = { readonly perOriginMax: number; readonly totalMax: number };

type TenantQueue = {
  readonly tenant: TenantId;
  /** Those with a hint and, as far as known, a free slot; in turn. */
  readonly ready: Map<number, Hint[]>;
  /** Those with hints that wait for a slot of their origin. */
  readonly blocked: Map<number, Hint[]>;
  /** Something was dropped that no pull has brought back. */
  dropped: boolean;
  /** Beside the blocked origins, a pull has found nothing, and since then no line has run dry and nothing was dropped. */
  othersAsked: boolean;
};

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

  /** Somebody of this tenant and origin is in line already: a newcomer must not overtake. */
  hasWaiting(tenant: TenantId, origin: number): boolean {
    const queue = this.#size === 0 ? undefined : this.#tenants.get(tenant);
    return (
      queue !== undefined && (queue.dropped || queue.ready.has(origin) || queue.blocked.has(origin))
    );
  }

  add(hint: Hint): void {
    const queue = this.#queueOf(hint.tenant);
    const blocked = queue.blocked.get(hint.origin);
    const line = blocked ?? queue.ready.get(hint.origin) ?? [];
    if (line.length >= this.#bounds.perOriginMax || this.#size >= this.#bounds.totalMax) {
      queue.dropped = true;
      if (!blocked) queue.othersAsked = false;
      return;
    }
    line.push(hint);
    this.#size += 1;
    if (!blocked) queue.ready.set(hint.origin, line);
  }

  /** The next hint whose origin has a slot by `isFree`. Whoever is taken goes to the end of the round. */
  take(isFree: (origin: number) => boolean): Hint | undefined {
    if (this.#size === 0) return undefined;
    for (const [tenant, queue] of this.#tenants) {
      const hint = this.#takeOf(queue, isFree);
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
      const line = queue.blocked.get(origin);
      if (!line) continue;
      queue.blocked.delete(origin);
      queue.ready.set(origin, line);
    }
  }

  get anyDropped(): boolean {
    for (const queue of this.#tenants.values()) if (queue.dropped) return true;
    return false;
  }

  /** Tenants of whom something was dropped and nothing is left that could run: pull theirs from the store. */
  drained(): readonly { readonly tenant: TenantId; readonly blocked: readonly number[] }[] {
    const dry: { tenant: TenantId; blocked: readonly number[] }[] = [];
    for (const queue of this.#tenants.values()) {
      if (!queue.dropped || queue.ready.size > 0) continue;
      if (queue.blocked.size > 0 && queue.othersAsked) continue;
      dry.push({ tenant: queue.tenant, blocked: [...queue.blocked.keys()] });
    }
    return dry;
  }

  /**
   * A pull has answered, apart from the origins `except`; `more`: it was full, so that there may be others. Only a pull
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

  #takeOf(queue: TenantQueue, isFree: (origin: number) => boolean): Hint | undefined {
    for (const [origin, line] of queue.ready) {
      queue.ready.delete(origin);
      if (!isFree(origin)) {
        queue.blocked.set(origin, line);
        continue;
      }
      const hint = line.shift();
      if (line.length > 0) queue.ready.set(origin, line);
      else queue.othersAsked = false;
      if (!hint) continue;
      this.#size -= 1;
      return hint;
    }
    return undefined;
  }

  #queueOf(tenant: TenantId): TenantQueue {
    const known = this.#tenants.get(tenant);
    if (known) return known;
    const queue: TenantQueue = {
      tenant,
      ready: new Map(),
      blocked: new Map(),
      dropped: false,
      othersAsked: false,
    };
    this.#tenants.set(tenant, queue);
    return queue;
  }
}
