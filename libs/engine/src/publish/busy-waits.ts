/**
 * Publishes that wait while every deliverer is busy (ADR 225), so that no more is accepted than is called.
 *
 * (1) A publish waits for at most `waitMsMax`, and at most `waitingMax` publishes wait.
 * (2) A tenant's first `freeMax` publishes after each reading of the roster do not wait: a tenant that floods slows
 *     itself alone.
 */
import { type TenantId } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";

type Wait = { readonly until: number; readonly end: () => void };

const waitMsMax = 500;
const waitingMax = 2_000;
const freeMax = 10;

export class BusyWaits {
  readonly #clock: Pick<Clock, "after" | "passedMs">;
  /** The waits, in the order in which they began. */
  readonly #waits = new Set<Wait>();
  /** The publishes of each tenant since the last reading that found every deliverer busy. */
  readonly #counts = new Map<TenantId, number>();
  #isBusy = false;
  #callOff: (() => void) | undefined;

  constructor(clock: Pick<Clock, "after" | "passedMs">) {
    this.#clock = clock;
  }

  /** Returns undefined when the publish need not wait. */
  wait(tenant: TenantId): Promise<void> | undefined {
    if (!this.#isBusy || this.#waits.size >= waitingMax) return undefined;
    const count = (this.#counts.get(tenant) ?? 0) + 1;
    this.#counts.set(tenant, count);
    if (count <= freeMax) return undefined;
    return new Promise((end) => {
      this.#waits.add({ until: this.#clock.passedMs() + waitMsMax, end });
      this.#endLate();
    });
  }

  /** Takes what a reading of the roster has found. */
  found(isBusy: boolean): void {
    this.#isBusy = isBusy;
    this.#counts.clear();
    if (!isBusy) this.#endUntil(Number.POSITIVE_INFINITY);
  }

  #endUntil(until: number): void {
    for (const wait of this.#waits) {
      if (wait.until > until) break;
      this.#waits.delete(wait);
      wait.end();
    }
    if (this.#waits.size > 0) return;
    this.#callOff?.();
    this.#callOff = undefined;
  }

  #endLate(): void {
    const [first] = this.#waits;
    if (!first || this.#callOff) return;
    this.#callOff = this.#clock.after(first.until - this.#clock.passedMs(), () => {
      this.#callOff = undefined;
      this.#endUntil(this.#clock.passedMs());
      this.#endLate();
    });
  }
}
