/**
 * Leases of running attempts: renewed in time, given up when they cannot be proven. One timer, while anything runs.
 *
 * (1) A call whose lease is past for all that this process knows is aborted: another may have the record by now.
 * (2) One whose call has ended is left alone: it writes to no socket, and its outcome is fenced by its epoch.
 * (3) A renewal is asked for once a second until it is answered.
 */
import { type MessageId, type TurnoverMap } from "@posthaste/domain";
import {
  type ClaimRef,
  type Clock,
  type Log,
  type Records,
  type TokenStore,
} from "@posthaste/ports";
import {
  type Attempt,
  isLong,
  isUntold,
  isWaiting,
  lose,
  mustAbort,
  needsRenewal,
} from "./attempt.ts";

export type LeasePorts = {
  readonly records: Pick<Records, "renew">;
  readonly tokens: Pick<TokenStore, "hold">;
  readonly clock: Clock;
  readonly log: Log;
};

export type LeaseOptions = {
  readonly running: Pick<TurnoverMap<MessageId, Attempt>, "size" | "values">;
  /** The store says that it is another process' claim, or none. */
  readonly lost: (attempt: Attempt) => void;
  /** Where it goes was not known so far. */
  readonly locate: (attempt: Attempt) => void;
  /** It has waited for its answer for a second. */
  readonly waits: (attempt: Attempt) => void;
  /** It has for a minute. */
  readonly lengthen: (attempt: Attempt) => void;
  /** The log does not know of them, and they are old enough to be in it. */
  readonly tell: (attempts: readonly Attempt[]) => void;
  readonly holdCaps: (attempts: readonly Attempt[]) => Promise<void>;
  /** Slots may have become free. */
  readonly checked: () => void;
  /** Nothing runs, but something still waits to be looked at. */
  readonly anyWaiting: () => boolean;
};

/** Calls leave their short slots a quarter of a second late at most. */
const checkEveryMs = 250;
/** The store takes them in portions, so that thousands of calls that wait do not stop it. */
const renewedAtOnceMax = 500;

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
    const { running, locate, waits, lengthen, checked } = this.#options;
    const passedMs = this.#ports.clock.passedMs();
    const toRenew: Attempt[] = [];
    const toTell: Attempt[] = [];
    for (const attempt of running.values()) {
      if (attempt.isCalling && mustAbort(attempt, passedMs)) {
        this.#ports.log.warn("attempt.lease-unproven", { id: attempt.record.message.id });
        lose(attempt);
        continue;
      }
      if (needsRenewal(attempt, passedMs)) toRenew.push(attempt);
      if (isUntold(attempt, passedMs)) toTell.push(attempt);
      if (attempt.slot && !attempt.slot.address) locate(attempt);
      if (isWaiting(attempt, passedMs)) waits(attempt);
      if (attempt.slot?.countsForOrigin === true && isLong(attempt, passedMs)) lengthen(attempt);
    }
    if (toTell.length > 0) this.#options.tell(toTell);
    checked();
    if (toRenew.length > 0) void this.#renewAll(toRenew);
  }

  /** Renews one whose call is to begin now. Afterwards it is lost, may begin, or the store did not say in time. */
  async prove(attempt: Attempt): Promise<void> {
    await this.#renew([attempt], { begins: true });
  }

  /** One portion after another: in one store several together would be one long turn again. */
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
    // Whose call has ended meanwhile has given its slot back, and must not take it again.
    const calling = attempts.filter(({ slot }) => slot !== undefined);
    const lanes = Map.groupBy(calling, ({ record }) => record.message.flow);
    // At once, so that they go out together; one that fails runs out with its lease.
    await Promise.all([
      this.#options.holdCaps(calling),
      ...[...lanes].map(async ([lane, inLane]) => {
        const ids = inLane.map(({ record }) => record.message.id);
        if (lane !== undefined) await this.#ports.tokens.hold(lane, ids);
      }),
    ]);
  }
}
