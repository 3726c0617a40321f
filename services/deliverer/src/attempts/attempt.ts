/**
 * An attempt as the deliverer keeps it in memory. Its state says what it holds: each function that enters a state gives back what that
 * state does not hold. All times but `startedAt` are by `passedMs`, so a clock that is set cuts no call short.
 */
import {
  elapsedMs,
  type InState,
  limits,
  originHash,
  sentBytes,
  type TenantId,
} from "@posthaste/domain";
import { type AddedEntry, type Clock, type Hint, type Sending, type Span } from "@posthaste/ports";
import { type Body, type Permit, type Place } from "../permits/permits.ts";

/** Waits in line for its permit. `place`: the place in line that a publish has reserved. */
type Waiting = { readonly kind: "waiting"; readonly place: Place | undefined };

/** Is being called, or is about to be. */
export type Calling = {
  readonly kind: "calling";
  readonly permit: Permit;
  /** When the call began; before that, when its permit was taken. `startedAt` is shown; durations count from `since`. */
  startedAt: number;
  since: number;
  /** The history of its run, read right before the call. */
  body: Uint8Array | undefined;
  /** Undefined until the request is made. */
  sending: Sending | undefined;
};

/** An attempt whose call has ended holds the bytes of its body, and the answer of its call. */
type Ended = { readonly body: Body | undefined; readonly answer: Sending | undefined };
type Settling = Ended & { readonly kind: "settling" };
/** The store has the outcome, and the components that it concerns are being told. */
type Telling = Ended & { readonly kind: "telling" };
type Over = { readonly kind: "over" };

type States = {
  readonly waiting: Waiting;
  readonly calling: Calling;
  readonly settling: Settling;
  readonly telling: Telling;
  readonly over: Over;
};
type Kind = keyof States;

export type Attempt<K extends Kind = Kind> = {
  readonly record: InState<"claimed">;
  readonly tenant: TenantId;
  readonly origin: number;
  /** The bytes of the body that the permit must have room for: 0 if a publish has reserved them. */
  readonly bytes: number;
  state: States[K];
  /** When the message was made; at most one lease before this process got it. */
  readonly madeAt: number;
  /** When this process got the message. */
  readonly gotAt: number;
  /** When the claim or its last renewal was asked for. The lease counts from then (docs/design/record#claims-leases-epochs). */
  leasedAt: number;
  /** When a renewal was last asked for, answered or not. */
  renewalAskedAt: number;
  /** Set when the call begins, if the message is traced. */
  span: Span | undefined;
  /** The log has not yet been told that the message was accepted. */
  untold: boolean;
  /** A hint that arrived during the attempt: the message is looked up again after settling. */
  hinted: Hint | undefined;
  /** The claim is lost: the outcome is traced and not written. */
  lost: boolean;
  /** The last entry of the history that is sent, as long as nothing can have changed its run since the entry was written. */
  entry: AddedEntry | undefined;
};

type Times = Pick<Clock, "now" | "passedMs">;

export const newAttempt = (
  record: InState<"claimed">,
  origin: number,
  leasedAt: number,
  clock: Times,
  place?: Place,
): Attempt<"waiting"> => ({
  record,
  tenant: record.message.tenant,
  origin,
  bytes: place ? 0 : sentBytes(record.message),
  state: place ? { kind: "waiting", place } : waiting,
  gotAt: clock.passedMs(),
  madeAt: clock.passedMs() - elapsedMs(record.message.createdAt, limits.leaseMs, clock.now()),
  leasedAt,
  renewalAskedAt: Number.NEGATIVE_INFINITY,
  span: undefined,
  untold: false,
  hinted: undefined,
  lost: false,
  entry: undefined,
});

const waiting: Waiting = { kind: "waiting", place: undefined };

/** Returns the attempt of a message that its insert claimed for this process. */
export function namedAttempt(record: InState<"claimed">, clock: Times): Attempt<"waiting"> {
  const leasedAt = leasedAtOf(record, clock);
  const attempt = newAttempt(record, originHash(record.message.url), leasedAt, clock);
  attempt.untold = true;
  return attempt;
}

export const beginCalling = (
  attempt: Attempt<"waiting">,
  permit: Permit,
  clock: Times,
): Attempt<"calling"> =>
  enter<"calling">(attempt, {
    kind: "calling",
    permit,
    startedAt: clock.now(),
    since: clock.passedMs(),
    body: undefined,
    sending: undefined,
  });

/** Ends the call, or the wait of a message that will not be called. */
export function beginSettling(attempt: Attempt<"waiting" | "calling">): Attempt<"settling"> {
  const { record, state } = attempt;
  const isCalled = state.kind === "calling";
  const body = isCalled ? state.permit : state.place;
  const answer = isCalled ? state.sending : undefined;
  const settling = enter<"settling">(attempt, { kind: "settling", body, answer });
  body?.giveSlotBack(answer);
  if (isCalled) state.permit.leaveCap(record.message.id);
  return settling;
}

/** Begins to report an outcome that the store has taken. */
export const beginTelling = (attempt: Attempt<"settling">): Attempt<"telling"> =>
  enter<"telling">(attempt, { ...attempt.state, kind: "telling" });

/** Ends the attempt and frees all that it holds. */
export function endAttempt(attempt: Attempt<"settling" | "telling">): void {
  const { answer, body } = attempt.state;
  enter<"over">(attempt, over);
  body?.end();
  answer?.forget?.();
}

const over: Over = { kind: "over" };

function enter<K extends Kind>(attempt: Attempt, state: States[K]): Attempt<K> {
  attempt.state = state;
  // The compiler does not narrow the type of an object by an assignment to its member.
  return attempt as Attempt<K>;
}

/**
 * Returns the time, by `passedMs`, at which the lease of an insert began. A lease shorter than `leaseMs` counts as
 * begun that much earlier.
 */
export function leasedAtOf({ message, state }: InState<"claimed">, clock: Times): number {
  const lackMs = limits.leaseMs - elapsedMs(message.createdAt, limits.leaseMs, state.leaseUntil);
  const ago = elapsedMs(state.leaseUntil - limits.leaseMs, limits.leaseMs, clock.now());
  return clock.passedMs() - Math.max(lackMs, ago);
}

/** Reports whether the lease is due for renewal. The short lease of a named insert is left until `namedRenewAfterMs`: most calls end before. */
export const needsRenewal = (
  { leasedAt, madeAt, renewalAskedAt }: Attempt,
  passedMs: number,
): boolean =>
  passedMs - renewalAskedAt >= renewAgainMs &&
  passedMs - leasedAt >= limits.leaseRenewMs &&
  passedMs - madeAt >= limits.namedRenewAfterMs;

const renewAgainMs = 1_000;

/** Reports whether the request under way must be aborted: its lease may be over, and the store may give the record to another process. */
export const mustAbort = ({ leasedAt, state }: Attempt, passedMs: number): boolean =>
  state.kind === "calling" &&
  state.sending !== undefined &&
  passedMs - leasedAt >= limits.leaseMs - limits.leaseSafetyMs;

/** Reports whether enough of the lease is left to begin a call: it can be renewed before the call would be aborted. */
export const mayBegin = ({ leasedAt }: Attempt, passedMs: number): boolean =>
  passedMs - leasedAt < limits.leaseMs - limits.leaseSafetyMs - limits.leaseToBeginMs;

/**
 * Counts a call that goes on by its age: for its address, out of its short slot after a second, and no longer for its
 * origin after a minute.
 */
export function age({ state }: Attempt, passedMs: number): void {
  if (state.kind !== "calling") return;
  const { permit, sending, since } = state;
  const { slot } = permit;
  if (!slot) return;
  if (!slot.isLocated) permit.locate(sending?.address);
  const forMs = passedMs - since;
  if (sending && slot.kind === "short" && forMs >= limits.waitingAttemptMs) permit.leaveShort();
  if (slot.countsForOrigin && forMs >= limits.longAttemptMs) permit.leaveOrigin();
}

/** Aborts the call and drops the outcome. */
export function lose(attempt: Attempt): void {
  attempt.lost = true;
  abort(attempt);
}

/** Aborts the call, and lets its outcome be written. */
export function abort({ state }: Attempt): void {
  if (state.kind === "calling") state.sending?.abort();
}
