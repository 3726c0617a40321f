/**
 * Renews the leases of running attempts, and aborts calls whose leases cannot be proven. One timer runs while anything runs.
 *
 * (1) A call whose lease may be over is aborted: another process may have the record.
 * (2) An attempt whose call has ended is not aborted: it sends nothing any more, and its outcome is fenced by its epoch.
 * (3) A renewal is asked for once a second until the store answers.
 */
import { type MessageId, type TurnoverMap } from "@posthaste/domain";
import {
  type ClaimRef,
  type Clock,
  type Log,
  type Records,
  type TokenStore,
} from "@posthaste/ports";
import { age, type Attempt, isUntold, lose, mustAbort, needsRenewal } from "./attempt.ts";
import { type Permits } from "./permits.ts";
import { traceOf } from "./trace.ts";

export type LeasePorts = {
  readonly records: Pick<Records, "renew">;
  readonly tokens: Pick<TokenStore, "hold">;
  readonly clock: Clock;
  readonly log: Log;
};

export type LeaseOptions = {
  readonly running: Pick<TurnoverMap<MessageId, Attempt>, "size" | "values">;
  /** Called when the store says that the claim is not this process' any more. */
  readonly lost: (attempt: Attempt) => void;
  /** Called with the attempts whose acceptance the log must be told now. */
  readonly tell: (attempts: readonly Attempt[]) => void;
  readonly permits: Pick<Permits, "holdCaps">;
  /** Called after each check: slots may have become free. */
  readonly checked: () => void;
  /** Reports whether hints wait, so that the timer goes on while nothing runs. */
  readonly anyWaiting: () => boolean;
};

/** The delay with which a waiting call leaves its short slot, at most. */
const checkEveryMs = 250;
/** The leases renewed in one call, so that thousands of waiting calls do not stop the store. */
const renewedAtOnceMax = 500;

export class Leases {
  readonly #ports: LeasePorts;
  readonly #options: LeaseOptions;
  #cancel: (() => void) | undefined;

  constructor(ports: LeasePorts, options: LeaseOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** Starts the timer. The deliverer calls this for each attempt. */
  keep(): void {
    if (!this.#cancel) this.#arm();
  }

  #arm(): void {
    this.#cancel = this.#ports.clock.after(checkEveryMs, () => {
      this.#cancel = undefined;
      const { running, anyWaiting } = this.#options;
      if (running.size === 0 && !anyWaiting()) return;
      this.#arm();
      this.#check();
    });
  }

  stop(): void {
    this.#cancel?.();
  }

  #check(): void {
    const { running, checked } = this.#options;
    const passedMs = this.#ports.clock.passedMs();
    const toRenew: Attempt[] = [];
    const toTell: Attempt[] = [];
    for (const attempt of running.values()) {
      if (mustAbort(attempt, passedMs)) {
        this.#ports.log.warn("attempt.lease-unproven", {
          id: attempt.record.message.id,
          ...traceOf(attempt),
        });
        lose(attempt);
        continue;
      }
      if (needsRenewal(attempt, passedMs)) toRenew.push(attempt);
      if (isUntold(attempt, passedMs)) toTell.push(attempt);
      age(attempt, passedMs);
    }
    if (toTell.length > 0) this.#options.tell(toTell);
    checked();
    if (toRenew.length > 0) void this.#renewAll(toRenew);
  }

  /** Renews the lease of an attempt whose call is about to begin. Afterwards the attempt is lost, may begin, or the store did not answer. */
  async prove(attempt: Attempt): Promise<void> {
    await this.#renew([attempt], { begins: true });
  }

  /** Renews one portion after another: several at once would be one long turn of an embedded store. */
  async #renewAll(attempts: readonly Attempt[]): Promise<void> {
    for (let from = 0; from < attempts.length; from += renewedAtOnceMax)
      await this.#renew(attempts.slice(from, from + renewedAtOnceMax));
  }

  async #renew(attempts: readonly Attempt[], begins?: Pick<ClaimRef, "begins">): Promise<void> {
    const askedAt = this.#ports.clock.passedMs();
    for (const attempt of attempts) attempt.renewalAskedAt = askedAt;
    try {
      const claims = attempts.map(({ record }) => ({
        id: record.message.id,
        epoch: record.epoch,
        ...begins,
      }));
      const lost = new Set(await this.#ports.records.renew(claims));
      for (const attempt of attempts)
        if (lost.has(attempt.record.message.id)) this.#options.lost(attempt);
      const kept = attempts.filter(({ record }) => !lost.has(record.message.id));
      for (const attempt of kept) attempt.leasedAt = askedAt;
      await this.#holdSlots(kept);
    } catch (error) {
      this.#ports.log.warn("renew.failed", { error, attempts: attempts.length });
    }
  }

  async #holdSlots(attempts: readonly Attempt[]): Promise<void> {
    // An attempt whose call has ended has given its slot back and must not take it again.
    const calling = attempts.filter(
      ({ state }) => state.kind === "calling" && state.permit.slot !== undefined,
    );
    const lanes = Map.groupBy(calling, ({ record }) => record.message.flow);
    // All at once, so that they share a round trip. A slot that is not held runs out with its lease.
    await Promise.all([
      this.#options.permits.holdCaps(calling.map(({ record }) => record.message)),
      ...[...lanes].map(async ([lane, inLane]) => {
        const ids = inLane.map(({ record }) => record.message.id);
        if (lane !== undefined) await this.#ports.tokens.hold(lane, ids);
      }),
    ]);
  }
}
