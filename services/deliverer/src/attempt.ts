/** One attempt as the deliverer keeps it while it runs. */
import { type InState, limits, originHash, type TenantId } from "@posthaste/domain";
import { type Hint, type Sending, type Span } from "@posthaste/ports";
import { type Counted } from "./body-bytes.ts";
import { type Slot } from "./slots.ts";

export type Attempt = {
  readonly record: InState<"claimed">;
  readonly origin: number;
  /** Of its body, while it is in flight; undefined: it is light. */
  counted: Counted | undefined;
  /** Of a delivery of a run: its history, read when it may be called. */
  body: Uint8Array | undefined;
  /** Of the call; until then, when it could have begun. */
  startedAt: number;
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
  now: number,
  { slot, counted }: Pick<Attempt, "slot" | "counted">,
): Attempt => ({
  record,
  origin,
  counted,
  body: undefined,
  startedAt: now,
  leasedAt,
  renewalAskedAt: Number.NEGATIVE_INFINITY,
  sending: undefined,
  span: undefined,
  slot,
  isCalling: false,
  untold: false,
  hinted: undefined,
  lost: false,
});

/** Its insert has claimed it for this process. Its body is counted once it has a slot. */
export const namedAttempt = (record: InState<"claimed">, now: number): Attempt => ({
  ...newAttempt(
    record,
    originHash(record.message.url),
    record.state.leaseUntil - limits.leaseMs,
    now,
    { slot: undefined, counted: undefined },
  ),
  untold: true,
});

export const tenantOf = ({ record }: Attempt): TenantId => record.message.tenant;

/** A lease that its insert has given to another process is short, and most calls have ended before it needs to be longer. */
export const needsRenewal = ({ leasedAt, record, renewalAskedAt }: Attempt, now: number): boolean =>
  // A clock that was ahead and is set back must not stop renewals until it is there again.
  Math.abs(now - renewalAskedAt) >= renewAgainMs &&
  now - leasedAt >= limits.leaseRenewMs &&
  ageOf(record, now) >= limits.namedRenewAfterMs;

/** A message that was made by a clock which was ahead is old enough for anything. */
const ageOf = ({ message }: Attempt["record"], now: number): number =>
  Math.abs(now - message.createdAt);

const renewAgainMs = 1_000;

/** What is under way is in the log within two seconds. */
export const isUntold = ({ record, untold }: Attempt, now: number): boolean =>
  untold && ageOf(record, now) >= tellAfterMs;
const tellAfterMs = 1_000;

/** Past this the store may give the record to another: nothing may be written any more, not even a byte to the socket. */
export const mustAbort = (attempt: Attempt, now: number): boolean =>
  now - attempt.leasedAt >= limits.leaseMs - limits.leaseSafetyMs;

/** A call that begins now is not aborted before its lease can have been renewed. */
export const mayBegin = (attempt: Attempt, now: number): boolean =>
  now - attempt.leasedAt < limits.leaseMs - limits.leaseSafetyMs - limits.leaseToBeginMs;

/** It holds a short slot, and has for long enough: `Slots.wait`. */
export const isWaiting = ({ slot, startedAt, isCalling }: Attempt, now: number): boolean =>
  isCalling && slot?.kind === "short" && now - startedAt >= limits.waitingAttemptMs;

export const isLong = (attempt: Attempt, now: number): boolean =>
  now - attempt.startedAt >= limits.longAttemptMs;

/** Of this claim, not of a later one that may run here under the same id. */
export function lose(attempt: Attempt): void {
  attempt.lost = true;
  attempt.sending?.abort();
}
