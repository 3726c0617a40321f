/**
 * Renews the leases of running attempts, and aborts calls whose leases cannot be proven. One timer runs while anything runs or waits.
 *
 * (1) A call whose lease may be over is aborted: another process may have the record.
 * (2) An attempt whose call has ended is not aborted: it sends nothing any more, and its outcome is fenced by its epoch.
 * (3) A renewal is asked for once a second until the store answers.
 */
import { type ClaimRef } from "@posthaste/ports";
import { age, type Attempt, lose, mustAbort, needsRenewal } from "./attempt.ts";
import { type SharedParts } from "../parts.ts";
import { type DelivererPorts } from "../ports.ts";
import { type Presence } from "../claiming/presence.ts";
import { type Settling } from "../settling/settling.ts";
import { traceOf } from "../trace.ts";

type LeaseParts = SharedParts & { readonly presence: Presence; readonly settling: Settling };

/** The most by which a waiting call may be late in leaving its short slot. */
const checkEveryMs = 250;
/** The leases renewed in one call, so that thousands of waiting calls do not stop the store. */
const renewedAtOnceMax = 500;

export class Leases {
  readonly #ports: DelivererPorts;
  readonly #parts: LeaseParts;
  #cancel: (() => void) | undefined;

  constructor(ports: DelivererPorts, parts: LeaseParts) {
    this.#ports = ports;
    this.#parts = parts;
  }

  /** Starts the timer, for an attempt or for a waiting message. */
  startTimer(): void {
    if (!this.#cancel) this.#arm();
  }

  #arm(): void {
    this.#cancel = this.#ports.clock.after(checkEveryMs, () => {
      this.#cancel = undefined;
      const { attempts, lines } = this.#parts;
      if (attempts.size === 0 && lines.size === 0) return;
      this.#arm();
      this.#check();
    });
  }

  stop(): void {
    this.#cancel?.();
  }

  #check(): void {
    const { acceptance, attempts, lines, presence } = this.#parts;
    const passedMs = this.#ports.clock.passedMs();
    const toRenew: Attempt[] = [];
    const toTell: Attempt[] = [];
    for (const attempt of attempts.values()) {
      if (mustAbort(attempt, passedMs)) {
        this.#ports.log.warn("attempt.lease-unproven", {
          id: attempt.record.message.id,
          ...traceOf(attempt),
        });
        lose(attempt);
        continue;
      }
      if (needsRenewal(attempt, passedMs)) toRenew.push(attempt);
      if (acceptance.isDue(attempt, passedMs)) toTell.push(attempt);
      age(attempt, passedMs);
    }
    if (toTell.length > 0) acceptance.tell(toTell);
    // The calls of other tenants may have grown older and leave room.
    lines.unblockSome();
    lines.goOn();
    presence.announceIfChanged();
    if (toRenew.length > 0) void this.#renewAll(toRenew);
  }

  /** Renews one portion after another: several at once would be one long turn of an embedded store. */
  async #renewAll(attempts: readonly Attempt[]): Promise<void> {
    for (let from = 0; from < attempts.length; from += renewedAtOnceMax)
      await this.renew(attempts.slice(from, from + renewedAtOnceMax));
  }

  /**
   * Renews leases. `begins`: the claim of an attempt whose call is about to begin. Afterwards each lease is lost or
   * kept, or the store did not answer.
   */
  async renew(attempts: readonly Attempt[], begins?: Pick<ClaimRef, "begins">): Promise<void> {
    const askedAt = this.#ports.clock.passedMs();
    for (const attempt of attempts) attempt.renewalAskedAt = askedAt;
    try {
      const claims = attempts.map(({ record }) => ({
        id: record.message.id,
        epoch: record.epoch,
        ...begins,
      }));
      const lost = new Set(await this.#ports.records.renew(claims));
      for (const attempt of attempts) if (lost.has(attempt.record.message.id)) this.#lose(attempt);
      const kept = attempts.filter(({ record }) => !lost.has(record.message.id));
      for (const attempt of kept) attempt.leasedAt = askedAt;
      await this.#holdSlots(kept);
    } catch (error) {
      this.#ports.log.warn("renew.failed", { error, attempts: attempts.length });
    }
  }

  #lose(attempt: Attempt): void {
    lose(attempt);
    this.#parts.settling.freeLane(attempt);
  }

  async #holdSlots(attempts: readonly Attempt[]): Promise<void> {
    // An attempt whose call has ended has given its slot back and must not take it again.
    const calling = attempts.filter(
      ({ state }) => state.kind === "calling" && state.permit.slot !== undefined,
    );
    const lanes = Map.groupBy(calling, ({ record }) => record.message.flow);
    // All at once, to share a round trip. A slot that is not held expires with its lease.
    await Promise.all([
      this.#parts.permits.caps.hold(calling.map(({ record }) => record.message)),
      ...[...lanes].map(async ([lane, inLane]) => {
        const ids = inLane.map(({ record }) => record.message.id);
        if (lane !== undefined) await this.#ports.tokens.hold(lane, ids);
      }),
    ]);
  }
}
