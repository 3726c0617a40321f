/**
 * Attempts that are claimed and have no slot: a publish reserved one, and other calls took the slots of their origin during the insert. First
 * come, first served for each tenant and origin. Reservations bound their number (slots.ts (4)).
 */
import { type TenantId } from "@posthaste/domain";
import { type Attempt, tenantOf } from "./attempt.ts";

type Line = { readonly tenant: TenantId; readonly origin: number; readonly attempts: Attempt[] };

export class Ready {
  readonly #lines = new Map<string, Line>();

  add(attempt: Attempt): void {
    const { origin } = attempt;
    const tenant = tenantOf(attempt);
    const key = keyOf(tenant, origin);
    const line = this.#lines.get(key);
    if (line) line.attempts.push(attempt);
    else this.#lines.set(key, { tenant, origin, attempts: [attempt] });
  }

  /** Reports whether attempts of this tenant and origin wait, which a new one must not overtake. */
  has(tenant: TenantId, origin: number): boolean {
    return this.#lines.size > 0 && this.#lines.has(keyOf(tenant, origin));
  }

  /** Takes the first attempt whose tenant and origin have a free slot. */
  take(isFree: (tenant: TenantId, origin: number) => boolean): Attempt | undefined {
    for (const [key, { tenant, origin, attempts }] of this.#lines) {
      if (!isFree(tenant, origin)) continue;
      const attempt = attempts.shift();
      if (attempts.length === 0) this.#lines.delete(key);
      if (attempt) return attempt;
    }
    return undefined;
  }
}

const keyOf = (tenant: TenantId, origin: number): string => `${origin} ${tenant}`;
