/**
 * Messages that took their process down too often are called one after another, beside the rest, so that the next time it is
 * known which of them it was (docs/design/record#poisonous-messages). They hold no slot, neither in line nor while they are called.
 *
 * (1) The next call begins when the one before has ended, or has gone on for `isolatedTrialMs`: one that hangs holds up none.
 *     Tenants have their turns. None begins in the first `isolatedQuietMs`: what takes a process down at its start is not
 *     suspected yet, and must not be put down to these.
 * (2) The store knows which one is called: what stands in line is renewed, and its call's beginning is written before it.
 * (3) All have a bound together, and a tenant its share of it. What is heavy waits in the store: in line it would hold its body.
 */
import { limits, shareOf, type TenantId } from "@posthaste/domain";
import { type ClaimRef, type Clock, type Log, type Records } from "@posthaste/ports";
import { type Attempt, tenantOf } from "./attempt.ts";

export type AlonePorts = {
  readonly records: Pick<Records, "renew">;
  readonly clock: Clock;
  readonly log: Log;
};

type Waiting = { readonly attempt: Attempt; readonly call: () => Promise<void> };
/** In line and called. */
type Line = { readonly waiting: Waiting[]; length: number };

export class Alone {
  readonly #ports: AlonePorts;
  /** In turn. */
  readonly #lines = new Map<TenantId, Line>();
  readonly #quietUntil: number;
  #length = 0;
  #isTrying = false;
  #isOver = false;
  #armed: (() => void) | undefined;

  constructor(ports: AlonePorts) {
    this.#ports = ports;
    this.#quietUntil = ports.clock.passedMs() + limits.isolatedQuietMs;
  }

  /** False: there is no place in line, and `call` will not be made. It never rejects. */
  add(attempt: Attempt, call: () => Promise<void>): boolean {
    const tenant = tenantOf(attempt);
    const line = this.#lines.get(tenant) ?? { waiting: [], length: 0 };
    if (this.#isOver || (attempt.counted && !this.#mayBegin)) return false;
    if (line.length >= shareOf(limits.isolatedMax, this.#length - line.length)) return false;
    this.#lines.set(tenant, line);
    this.#length += 1;
    line.length += 1;
    line.waiting.push({ attempt, call });
    if (!this.#mayBegin) void this.#renew(attempt);
    this.#next();
    return true;
  }

  /** Calls nothing more: what is left in line is to be given back. */
  end(): readonly Attempt[] {
    this.#isOver = true;
    this.#armed?.();
    return [...this.#lines.values()].flatMap(({ waiting }) =>
      waiting.splice(0).map(({ attempt }) => attempt),
    );
  }

  get #mayBegin(): boolean {
    return !this.#isTrying && this.#ports.clock.passedMs() >= this.#quietUntil;
  }

  #next(): void {
    if (this.#isTrying || this.#isOver) return;
    const quietMs = this.#quietUntil - this.#ports.clock.passedMs();
    if (quietMs > 0) {
      this.#armed ??= this.#ports.clock.after(quietMs, () => this.#next());
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
    await this.#renew(attempt, { begins: true });
    let isTried = true;
    const goOn = (): void => {
      if (isTried) this.#isTrying = false;
      isTried = false;
      // It has had its turn. Without any it has no line.
      if (this.#lines.delete(tenant) && line.length > 0) this.#lines.set(tenant, line);
      this.#next();
    };
    const trialOver = this.#ports.clock.after(limits.isolatedTrialMs, () => {
      void this.#renew(attempt);
      goOn();
    });
    await call();
    trialOver();
    this.#length -= 1;
    line.length -= 1;
    if (line.length === 0) this.#lines.delete(tenant);
    goOn();
  }

  /** Where the store is away its word is missing: a lost lease is put down to more of them, or to fewer. */
  async #renew(attempt: Attempt, begins?: Pick<ClaimRef, "begins">): Promise<void> {
    const { epoch, message } = attempt.record;
    const askedAt = this.#ports.clock.passedMs();
    try {
      const lost = await this.#ports.records.renew([{ id: message.id, epoch, ...begins }]);
      if (lost.length === 0) attempt.leasedAt = askedAt;
    } catch (error) {
      this.#ports.log.warn("renew.failed", { error, attempts: 1 });
    }
  }
}
