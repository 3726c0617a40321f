/**
 * Messages that took their process down too often are called one after another, each tenant's in a line of its own, beside
 * the rest. They hold no slot, neither in line nor while they are called: one call of a tenant at a time is their bound.
 *
 * (1) All lines have a bound together, with what is called, and a tenant its share of it.
 * (2) Whatever is heavy waits in the store: in line it would hold its body.
 */
import { shareOf, type TenantId } from "@posthaste/domain";

type Line = { last: Promise<void>; length: number };

export class Alone {
  readonly #max: number;
  readonly #lines = new Map<TenantId, Line>();
  #length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** False: there is no place in line, and `call` will not be made. It never rejects. */
  add(tenant: TenantId, isHeavy: boolean, call: () => Promise<void>): boolean {
    const line = this.#lines.get(tenant) ?? { last: Promise.resolve(), length: 0 };
    if (isHeavy && line.length > 0) return false;
    if (line.length >= shareOf(this.#max, this.#length - line.length)) return false;
    this.#lines.set(tenant, line);
    this.#length += 1;
    line.length += 1;
    line.last = line.last.then(call).finally(() => this.#leave(tenant, line));
    return true;
  }

  #leave(tenant: TenantId, line: Line): void {
    this.#length -= 1;
    line.length -= 1;
    if (line.length === 0) this.#lines.delete(tenant);
  }
}
