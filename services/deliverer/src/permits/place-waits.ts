/**
 * Publishes that wait for a place in line (ADR 213). While the process has no time to spare, a publish that finds all
 * places of its origin taken waits until a call of that origin begins, so that no more is accepted than is called.
 *
 * (1) A publish waits for at most `waitMsMax`, and at most `waitingMax` publishes wait.
 * (2) Publishes to one origin of a tenant end their waits in the order in which they came.
 */
import { type TenantId } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";

type Wait = { readonly line: string; readonly until: number; readonly end: () => void };

const waitMsMax = 200;
const waitingMax = 2_000;

export class PlaceWaits {
  readonly #clock: Pick<Clock, "after" | "passedMs">;
  readonly #isBusy: () => boolean;
  /** The waits, in the order in which they began. */
  readonly #waits = new Set<Wait>();
  readonly #lines = new Map<string, Set<Wait>>();
  #isTimed = false;

  /** `isBusy` reports whether the process has no time to spare. */
  constructor(clock: Pick<Clock, "after" | "passedMs">, isBusy: () => boolean) {
    this.#clock = clock;
    this.#isBusy = isBusy;
  }

  /** Returns undefined when the publish need not wait. */
  wait(tenant: TenantId, origin: number): Promise<void> | undefined {
    if (this.#waits.size >= waitingMax || !this.#isBusy()) return undefined;
    const line = lineOf(tenant, origin);
    return new Promise((end) => {
      const wait = { line, until: this.#clock.passedMs() + waitMsMax, end };
      this.#waits.add(wait);
      const others = this.#lines.get(line);
      if (others) others.add(wait);
      else this.#lines.set(line, new Set([wait]));
      this.#endLate();
    });
  }

  /** Ends the first wait for a place that has become free. */
  freed(tenant: TenantId, origin: number): void {
    if (this.#waits.size === 0) return;
    const [first] = this.#lines.get(lineOf(tenant, origin)) ?? [];
    if (first) this.#end(first);
  }

  endAll(): void {
    for (const wait of this.#waits) this.#end(wait);
  }

  #end(wait: Wait): void {
    this.#waits.delete(wait);
    const others = this.#lines.get(wait.line);
    others?.delete(wait);
    if (others?.size === 0) this.#lines.delete(wait.line);
    wait.end();
  }

  #endLate(): void {
    const [first] = this.#waits;
    if (!first || this.#isTimed) return;
    this.#isTimed = true;
    this.#clock.after(first.until - this.#clock.passedMs(), () => {
      this.#isTimed = false;
      const now = this.#clock.passedMs();
      for (const wait of this.#waits) {
        if (wait.until > now) break;
        this.#end(wait);
      }
      this.#endLate();
    });
  }
}

const lineOf = (tenant: TenantId, origin: number): string => `${origin} ${tenant}`;
