/**
 * An attempt as the deliverer keeps it in memory. All times but `startedAt` are by `passedMs`, so a clock that is set cuts no call short.
 */
import { agoMs, type InState, limits, originHash, type TenantId } from "@posthaste/domain";
import { type Clock, type Hint, type Sending, type Span } from "@posthaste/ports";
import { type Permit } from "./permits.ts";

/**
 * The phases of an attempt, in their order: it waits for its call, is called, its outcome is written, then told, and it is over. A
 * message that is not called goes from waiting to settling.
 */
export type Phase = "waiting" | "calling" | "settling" | "telling" | "over";

export type Attempt = {
  readonly record: InState<"claimed">;
  readonly origin: number;
  /** Changed by `enter`. */
  phase: Phase;
  /** Undefined for a message that a gateway named, as long as it waits in line. */
  permit: Permit | undefined;
  /** The history of its run, read right before the call; undefined otherwise. */
  body: Uint8Array | undefined;
  /** When its message was made; at most one lease before this process got it. */
  readonly madeAt: number;
  /** When the call began, or before that when the attempt was made. `startedAt` is shown; durations count from `callingSince`. */
  startedAt: number;
  callingSince: number;
  /** When the claim or its last renewal was asked for: the lease is relied on from then (docs/design/record#claims-leases-epochs). */
  leasedAt: number;
  /** When a renewal was last asked for, answered or not. */
  renewalAskedAt: number;
  sending: Sending | undefined;
  /** Set from the call on if the message is traced. */
  span: Span | undefined;
  /** The log has not yet been told that the message was accepted. */
  untold: boolean;
  /** A hint that arrived during the attempt: the message is looked at again after settling. */
  hinted: Hint | undefined;
  /** The claim is lost: the outcome is traced and not written. */
  lost: boolean;
};

export const newAttempt = (
  record: InState<"claimed">,
  origin: number,
  leasedAt: number,
  clock: Pick<Clock, "now" | "passedMs">,
  permit: Permit | undefined,
): Attempt => {
  const startedAt = clock.now();
  const callingSince = clock.passedMs();
  return {
    record,
    origin,
    phase: "waiting",
    permit,
    body: undefined,
    madeAt: callingSince - agoMs(record.message.createdAt, limits.leaseMs, startedAt),
    startedAt,
    callingSince,
    leasedAt,
    renewalAskedAt: Number.NEGATIVE_INFINITY,
    sending: undefined,
    span: undefined,
    untold: false,
    hinted: undefined,
    lost: false,
  };
};

/** Makes the attempt of a message that its insert claimed for this process. */
export const namedAttempt = (
  record: InState<"claimed">,
  clock: Pick<Clock, "now" | "passedMs">,
): Attempt => ({
  ...newAttempt(
    record,
    originHash(record.message.url),
    leasedAtOf(record, clock),
    clock,
    undefined,
  ),
  untold: true,
});

/**
 * Returns when, by `passedMs`, the lease of an insert began. A lease shorter than `leaseMs` counts as begun earlier by what it lacks.
 */
export function leasedAtOf(
  { message, state }: InState<"claimed">,
  clock: Pick<Clock, "now" | "passedMs">,
): number {
  const lackMs = limits.leaseMs - agoMs(message.createdAt, limits.leaseMs, state.leaseUntil);
  const ago = agoMs(state.leaseUntil - limits.leaseMs, limits.leaseMs, clock.now());
  return clock.passedMs() - Math.max(lackMs, ago);
}

export const tenantOf = ({ record }: Attempt): TenantId => record.message.tenant;

/** Reports whether the lease is due for renewal. The short lease of a named insert is left until `namedRenewAfterMs`: most calls end before. */
export const needsRenewal = (
  { leasedAt, madeAt, renewalAskedAt }: Attempt,
  passedMs: number,
): boolean =>
  passedMs - renewalAskedAt >= renewAgainMs &&
  passedMs - leasedAt >= limits.leaseRenewMs &&
  passedMs - madeAt >= limits.namedRenewAfterMs;

const renewAgainMs = 1_000;

/** Reports whether the log must be told of the message now: a running message is in the log within two seconds. */
export const isUntold = ({ madeAt, untold }: Attempt, passedMs: number): boolean =>
  untold && passedMs - madeAt >= tellAfterMs;
const tellAfterMs = 1_000;

/** Reports whether the lease may be over: the store may give the record to another process, so no byte may be sent any more. */
export const mustAbort = (attempt: Attempt, passedMs: number): boolean =>
  passedMs - attempt.leasedAt >= limits.leaseMs - limits.leaseSafetyMs;

/** Reports whether enough of the lease is left to begin a call: it can be renewed before the call would be aborted. */
export const mayBegin = (attempt: Attempt, passedMs: number): boolean =>
  passedMs - attempt.leasedAt < limits.leaseMs - limits.leaseSafetyMs - limits.leaseToBeginMs;

/** Counts a call that goes on by its age: with its address, out of its short slot after a second, not for its origin after a minute. */
export function age({ callingSince, permit, phase, sending }: Attempt, passedMs: number): void {
  const slot = permit?.slot;
  if (!permit || !slot) return;
  if (!slot.address) permit.locate(sending?.address);
  const forMs = passedMs - callingSince;
  if (phase === "calling" && slot.kind === "short" && forMs >= limits.waitingAttemptMs)
    permit.wait();
  if (slot.countsForOrigin && forMs >= limits.longAttemptMs) permit.leaveOrigin();
}

/** Enters a later phase, and gives back the rights that the attempt does not hold there. */
export function enter(attempt: Attempt, phase: Phase): void {
  const { permit, record, sending } = attempt;
  attempt.phase = phase;
  if (phase === "settling") {
    permit?.giveSlotBack(sending);
    permit?.leaveCap(record.message.id);
  }
  if (phase !== "over") return;
  permit?.end();
  sending?.forget?.();
}

/** Aborts the call and drops its outcome. */
export function lose(attempt: Attempt): void {
  attempt.lost = true;
  attempt.sending?.abort();
}
