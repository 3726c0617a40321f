/**
 * Leases of running attempts: renewed in time, given up when they cannot be proven. One timer, while anything runs.
 *
 * L1  A call whose lease is past for all that this process knows is aborted: another may have the record by now.
 * L2  One whose call has ended is left alone: it writes to no socket, and its outcome is fenced by its epoch.
 */
import { type MessageId, type TurnoverMap } from "@posthaste/domain";
import { type Clock, type Log, type MessageStore, type TokenStore } from "@posthaste/ports";
import { type Attempt, isLong, lose, mustAbort, needsRenewal } from "./attempt.ts";

export type LeasePorts = {
  readonly messages: Pick<MessageStore, "renew">;
  readonly tokens: Pick<TokenStore, "renew">;
  readonly clock: Clock;
  readonly log: Log;
};

export type LeaseOptions = {
  readonly running: Pick<TurnoverMap<MessageId, Attempt>, "size" | "values">;
  /** A call has become a long one. */
  readonly lengthen: (attempt: Attempt) => void;
  /** Slots may have become free. */
  readonly checked: () => void;
};

const checkEveryMs = 1_000;

export class Leases {
  readonly #ports: LeasePorts;
  readonly #options: LeaseOptions;
  #cancel: (() => void) | undefined;

  constructor(ports: LeasePorts, options: LeaseOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** To be called when an attempt begins. */
  keep(): void {
    this.#cancel ??= this.#ports.clock.after(checkEveryMs, () => {
      this.#cancel = undefined;
      if (this.#options.running.size === 0) return;
      this.keep();
      this.#check();
    });
  }

  stop(): void {
    this.#cancel?.();
  }

  #check(): void {
    const { running, lengthen, checked } = this.#options;
    const now = this.#ports.clock.now();
    const toRenew: Attempt[] = [];
    for (const attempt of running.values()) {
      if (attempt.slot !== "none" && mustAbort(attempt, now)) {
        this.#ports.log.warn("attempt.lease-unproven", { id: attempt.record.message.id });
        lose(attempt);
        continue;
      }
      if (needsRenewal(attempt, now)) toRenew.push(attempt);
      if (attempt.slot === "short" && isLong(attempt, now)) lengthen(attempt);
    }
    checked();
    if (toRenew.length > 0) void this.#renew(toRenew);
  }

  async #renew(attempts: readonly Attempt[]): Promise<void> {
    const askedAt = this.#ports.clock.now();
    try {
      const claims = attempts.map(({ record }) => ({ id: record.message.id, epoch: record.epoch }));
      const lost = new Set(await this.#ports.messages.renew(claims));
      for (const attempt of attempts) if (lost.has(attempt.record.message.id)) lose(attempt);
      const kept = attempts.filter(({ record }) => !lost.has(record.message.id));
      for (const attempt of kept) attempt.leasedAt = askedAt;
      await this.#renewSlots(kept);
    } catch (error) {
      this.#ports.log.warn("renew.failed", { error, attempts: attempts.length });
    }
  }

  async #renewSlots(attempts: readonly Attempt[]): Promise<void> {
    const lanes = Map.groupBy(attempts, ({ record }) => record.message.flowLane);
    // At once, so that they go out together; one that fails runs out with its lease.
    await Promise.all(
      [...lanes].map(async ([lane, inLane]) => {
        const ids = inLane.map(({ record }) => record.message.id);
        if (lane !== undefined) await this.#ports.tokens.renew(lane, ids);
      }),
    );
  }
}
