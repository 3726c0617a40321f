/**
 * Calls suspected messages one after another: messages whose claims were lost too often, perhaps because they crash their process. After the
 * next crash the store knows which one was being called (docs/design/record#poisonous-messages). Suspects hold no slot.
 *
 * (1) The next call begins when the one before has ended, or has run for `isolatedTrialMs`, so a hanging call holds up none. Tenants
 *     take turns. No call begins in the first `isolatedQuietMs`: a crash at the start of a process must not be blamed on a suspect.
 * (2) The store knows which suspect is called: the lease of each waiting one is renewed, and the beginning of a call is written first.
 * (3) The number of waiting suspects is bounded, with a share for each tenant. Heavy ones wait in the store, so that no body is held.
 */
import { limits, sentBytes, shareOf, type TenantId } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { type Attempt } from "../attempts/attempt.ts";
import { type Leases } from "../attempts/leases.ts";

type Waiting = { readonly attempt: Attempt<"calling">; readonly call: () => Promise<void> };
/** `length` counts the waiting messages and the one being called. */
type Line = { readonly waiting: Waiting[]; length: number };

export class Suspects {
  readonly #clock: Clock;
  /** While the store is away a later crash may be blamed on too many suspects, or too few. */
  readonly #leases: Pick<Leases, "renew">;
  /** The tenant in front is next. */
  readonly #lines = new Map<TenantId, Line>();
  readonly #quietUntil: number;
  #length = 0;
  #isTrying = false;
  #isOver = false;
  #armed: (() => void) | undefined;

  constructor(clock: Clock, leases: Pick<Leases, "renew">) {
    this.#clock = clock;
    this.#leases = leases;
    this.#quietUntil = clock.passedMs() + limits.isolatedQuietMs;
  }

  /** Returns false, without calling `call`, when there is no place in line. `call` must not reject. */
  add(attempt: Attempt<"calling">, call: () => Promise<void>): boolean {
    const { tenant } = attempt;
    const line = this.#lines.get(tenant) ?? { waiting: [], length: 0 };
    if (this.#isOver || (isHeavy(attempt) && !this.#mayBegin)) return false;
    if (line.length >= shareOf(limits.isolatedMax, this.#length - line.length)) return false;
    this.#lines.set(tenant, line);
    this.#length += 1;
    line.length += 1;
    line.waiting.push({ attempt, call });
    if (!this.#mayBegin) void this.#leases.renew([attempt]);
    this.#next();
    return true;
  }

  /** Calls nothing more, and returns the waiting attempts, whose claims the caller gives back. */
  end(): readonly Attempt<"calling">[] {
    this.#isOver = true;
    this.#armed?.();
    return [...this.#lines.values()].flatMap(({ waiting }) =>
      waiting.splice(0).map(({ attempt }) => attempt),
    );
  }

  get #mayBegin(): boolean {
    return !this.#isTrying && this.#clock.passedMs() >= this.#quietUntil;
  }

  #next(): void {
    if (this.#isTrying || this.#isOver) return;
    const quietMs = this.#quietUntil - this.#clock.passedMs();
    if (quietMs > 0) {
      this.#armed ??= this.#clock.after(quietMs, () => this.#next());
      return;
    }
    for (const [tenant, line] of this.#lines) {
      const next = line.waiting.shift();
      if (!next) continue;
      void this.#try(next, tenant, line);
      return;
    }
  }

  async #try({ attempt, call }: Waiting, tenant: TenantId, line: Line): Promise<void> {
    this.#isTrying = true;
    await this.#leases.renew([attempt], { begins: true });
    let isTried = true;
    const goOn = (): void => {
      if (isTried) this.#isTrying = false;
      isTried = false;
      // The tenant goes behind the rest; an empty line is removed.
      if (this.#lines.delete(tenant) && line.length > 0) this.#lines.set(tenant, line);
      this.#next();
    };
    const trialOver = this.#clock.after(limits.isolatedTrialMs, () => {
      void this.#leases.renew([attempt]);
      goOn();
    });
    await call();
    trialOver();
    this.#length -= 1;
    line.length -= 1;
    if (line.length === 0) this.#lines.delete(tenant);
    goOn();
  }
}

const isHeavy = ({ record }: Attempt): boolean => sentBytes(record.message) > limits.lightBytesMax;
