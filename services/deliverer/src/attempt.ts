/**
 * One attempt as the deliverer keeps it while it runs. All of its times but `startedAt` are of `passedMs`: no setting of a
 * clock cuts a call short.
 */
import { agoMs, type InState, limits, originHash, type TenantId } from "@posthaste/domain";
import { type Clock, type Hint, type Sending, type Span } from "@posthaste/ports";
import { type Counted } from "./body-bytes.ts";
import { type Slot } from "./slots.ts";

export type Attempt = {
  readonly record: InState<"claimed">;
  readonly origin: number;
  /** Of its body, while it is in flight; undefined: it is light. */
  counted: Counted | undefined;
  /** Of a delivery of a run: its history, read when it may be called. */
  body: Uint8Array | undefined;
  /** When its message was made, or a lease before it came here. */
  readonly madeAt: number;
  /** When the call began; until then, when it could have begun. `startedAt` is told, and durations count from `callingSince`. */
  startedAt: number;
  callingSince: number;
  /** When the claim, or its last renewal, was asked for: what we may rely on counts from there (docs/design/record#claims-leases-epochs). */
  leasedAt: number;
  /** When its renewal was last asked for, whatever came of it. */
  renewalAskedAt: number;
  sending: Sending | undefined;
  /** There when its message is traced, from the call on. */
  span: Span | undefined;
  /** Undefined before the call, if it has to wait for one, once the call has ended, and of one that is called alone. */
  slot: Slot | undefined;
  /** From the call's beginning until its slot, or its turn, is another's. */
  isCalling: boolean;
  /** The log does not know yet that it was accepted. */
  untold: boolean;
  /** It is to be looked at once more when this has ended. */
  hinted: Hint | undefined;
  /** The claim is lost: whatever comes of the call is for the log only. */
  lost: boolean;
};

export const newAttempt = (
  record: InState<"claimed">,
  origin: number,
  leasedAt: number,
  clock: Pick<Clock, "now" | "passedMs">,
  { slot, counted }: Pick<Attempt, "slot" | "counted">,
): Attempt => {
  const startedAt = clock.now();
  const callingSince = clock.passedMs();
  return {
    record,
    origin,
    counted,
    body: undefined,
    madeAt: callingSince - agoMs(record.message.createdAt, limits.leaseMs, startedAt),
    startedAt,
    callingSince,
    leasedAt,
    renewalAskedAt: Number.NEGATIVE_INFINITY,
    sending: undefined,
    span: undefined,
    slot,
    isCalling: false,
    untold: false,
    hinted: undefined,
    lost: false,
  };
};

/** Its insert has claimed it for this process. Its body is counted once it has a slot. */
export const namedAttempt = (
  record: InState<"claimed">,
  clock: Pick<Clock, "now" | "passedMs">,
): Attempt => ({
  ...newAttempt(record, originHash(record.message.url), leasedAtOf(record, clock), clock, {
    slot: undefined,
    counted: undefined,
  }),
  untold: true,
});

/** When the lease began that an insert has given: a whole one no later than now, a short one no later than its lack. */
export function leasedAtOf(
  { message, state }: InState<"claimed">,
  clock: Pick<Clock, "now" | "passedMs">,
): number {
  const lackMs = limits.leaseMs - agoMs(message.createdAt, limits.leaseMs, state.leaseUntil);
  const ago = agoMs(state.leaseUntil - limits.leaseMs, limits.leaseMs, clock.now());
  return clock.passedMs() - Math.max(lackMs, ago);
}

export const tenantOf = ({ record }: Attempt): TenantId => record.message.tenant;

/** A lease that its insert has given to another process is short, and most calls have ended before it needs to be longer. */
export const needsRenewal = (
  { leasedAt, madeAt, renewalAskedAt }: Attempt,
  passedMs: number,
): boolean =>
  passedMs - renewalAskedAt >= renewAgainMs &&
  passedMs - leasedAt >= limits.leaseRenewMs &&
  passedMs - madeAt >= limits.namedRenewAfterMs;

const renewAgainMs = 1_000;

/** What is under way is in the log within two seconds. */
export const isUntold = ({ madeAt, untold }: Attempt, passedMs: number): boolean =>
  untold && passedMs - madeAt >= tellAfterMs;
const tellAfterMs = 1_000;

/** Past this the store may give the record to another: nothing may be written any more, not even a byte to the socket. */
export const mustAbort = (attempt: Attempt, passedMs: number): boolean =>
  passedMs - attempt.leasedAt >= limits.leaseMs - limits.leaseSafetyMs;

/** A call that begins now is not aborted before its lease can have been renewed. */
export const mayBegin = (attempt: Attempt, passedMs: number): boolean =>
  passedMs - attempt.leasedAt < limits.leaseMs - limits.leaseSafetyMs - limits.leaseToBeginMs;

/** It holds a short slot, and has for long enough: `Slots.wait`. */
export const isWaiting = ({ slot, callingSince, isCalling }: Attempt, passedMs: number): boolean =>
  isCalling && slot?.kind === "short" && passedMs - callingSince >= limits.waitingAttemptMs;

export const isLong = (attempt: Attempt, passedMs: number): boolean =>
  passedMs - attempt.callingSince >= limits.longAttemptMs;

/** Of this claim, not of a later one that may run here under the same id. */
export function lose(attempt: Attempt): void {
  attempt.lost = true;
  attempt.sending?.abort();
}
