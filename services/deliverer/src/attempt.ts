/** One attempt as the deliverer keeps it while it runs. */
import { type InState, limits } from "@posthaste/domain";
import { type Sending, type Span } from "@posthaste/ports";

export type Attempt = {
  readonly record: InState<"claimed">;
  readonly origin: number;
  /** Of the call; until then, when it could have begun. */
  startedAt: number;
  /** When the claim, or its last renewal, was asked for: what we may rely on counts from there (P3). */
  leasedAt: number;
  sending: Sending | undefined;
  /** There when its message is traced, from the call on. */
  span: Span | undefined;
  /** Which pool it holds a slot of; none before the call, if it has to wait for one, and once the call has ended. */
  slot: "short" | "long" | "none";
  /** The claim is lost: whatever comes of the call is for the log only. */
  lost: boolean;
};

export const newAttempt = (
  record: InState<"claimed">,
  origin: number,
  leasedAt: number,
  now: number,
  slot: Attempt["slot"] = "short",
): Attempt => ({
  record,
  origin,
  startedAt: now,
  leasedAt,
  sending: undefined,
  span: undefined,
  slot,
  lost: false,
});

export const needsRenewal = (attempt: Attempt, now: number): boolean =>
  now - attempt.leasedAt >= limits.leaseRenewMs;

/** Past this the store may give the record to another: nothing may be written any more, not even a byte to the socket. */
export const mustAbort = (attempt: Attempt, now: number): boolean =>
  now - attempt.leasedAt >= limits.leaseMs - limits.leaseSafetyMs;

export const isLong = (attempt: Attempt, now: number): boolean =>
  now - attempt.startedAt >= limits.longAttemptMs;

/** Of this claim, not of a later one that may run here under the same id. */
export function lose(attempt: Attempt): void {
  attempt.lost = true;
  attempt.sending?.abort();
}
