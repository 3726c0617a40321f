/** Every bound and period of the engine that does not depend on a plan, with units in the names. */

/**
 * A claim lasts `leaseMs` and is renewed every `leaseRenewMs`; the deliverer aborts its call `leaseSafetyMs` before the end.
 */
export const leaseMs = 30_000;
export const leaseRenewMs = 10_000;
export const leaseSafetyMs = 5_000;
/** A call begins only on a lease with at least this long to run; otherwise the lease is renewed first. */
export const leaseToBeginMs = 3_000;

/**
 * The lease of an insert that claims for another process, short because that process may never receive the message.
 */
export const namedLeaseMs = 10_000;
/**
 * When such a lease is first renewed, which makes it an ordinary lease. Most calls have ended by then, and a store that
 * stalls still has time to answer.
 */
export const namedRenewAfterMs = 1_000;
/** The largest body that travels with the hint of a message claimed for a named deliverer. */
export const namedBodyBytesMax = 64 * 1024;
/** A deliverer writes itself into the roster every `rosterEveryMs`; its entry is believed for `rosterFreshMs`. */
export const rosterEveryMs = 1_000;
export const rosterFreshMs = 3_000;

/** A ring moves the alarm this far ahead; for a record that stays due, twice as far each time, up to `ringAheadMsMax`. */
export const ringAheadMs = 30_000;
export const ringAheadMsMax = 600_000;
export const ringBatchMax = 500;
/** A follow-up is left to its alarm from this long before it: work that begins then may be done twice. */
export const followUpLeftMs = 10_000;

/** A promoted message that is not claimed within its grant goes back into its line. */
export const grantMs = 30_000;
export const grantBatchMax = 500;
/** The turns of a queue that one look gives, and the messages of a deleted queue that it names, at most. */
export const admitBatchMax = 500;
/** How long a lane's row stays after its last use; at least until its rate window is over. */
export const laneKeptMs = 86_400_000;

/**
 * A finished record stays readable for `finishedKeepMs`; a sweep, every `sweepEveryMs`, removes it 30 to 60 s after its end.
 */
export const finishedKeepMs = 30_000;
export const sweepEveryMs = 15_000;
export const sweepBatchMax = 5_000;
/**
 * The longest time from its making to its end in which a message may be its own log. Stored rows rely on it, so it may grow but
 * not shrink.
 */
export const ownLogMs = 1_000;
export const tombstoneMs = 86_400_000;
/**
 * How long replaced chunks of a group stay: a publish that has read them may be about to insert its fan-out, for at most 20
 * s.
 */
export const replacedChunkKeptMs = 600_000;
/** The rows among which the oldest due record of a tenant is searched. */
export const dueSinceRowsMax = 1_000;

/** Bulk actions of a tenant under way at once, and how long one is kept after its end. */
export const bulkActionsMax = 1_000;
export const bulkActionKeptMs = 604_800_000;

export const deduplicationMs = 600_000;
/** A claimed key stays pending for this long, so that a late repeat finds the id of the first publish. */
export const deduplicationPendingMsMax = 600_000;
/** A publisher that finds a pending key takes over with the same id after this wait (docs/design/deduplication#take-over). */
export const deduplicationPendingMs = 1_000;
/** An insert that has not begun this long after its claim is answered 503 (docs/design/deduplication#take-over). */
export const deduplicationClaimMsMax = 20_000;

/**
 * The parts that one lost lease counts; the loss of a lease that was renewed counts one part
 * (docs/design/record#poisonous-messages).
 */
export const leaseLossParts = 4;
/** A message with this many lost parts is called alone; with `quarantineAfter` it becomes a dead letter. */
export const isolateAfter = 5 * leaseLossParts;
export const quarantineAfter = 8 * leaseLossParts;

/** The shortest and longest wait after an infrastructure failure, which does not count as a retry. */
export const deferralMsMin = 1_000;
export const deferralMsMax = 60_000;
/** Deferrals in a row without an attempt between them, an hour in sum, after which the message is a dead letter. */
export const deferralsMax = 65;

export const retryDelayMsMax = 86_400_000;
export const retryAfterMsMax = 86_400_000;
export const backoffJitterMsMax = 1_000;

/** An attempt that has run longer gives its short slot back while it waits for its answer (ADR 15). */
export const waitingAttemptMs = 1_000;
/** An attempt that has run longer no longer counts against its origin. */
export const longAttemptMs = 60_000;
/**
 * The next message that is called alone begins once the call before has run for `isolatedTrialMs`, and the first once the
 * process has run for `isolatedQuietMs`.
 */
export const isolatedTrialMs = 1_000;
export const isolatedQuietMs = 10_000;
/** Messages called alone, running or in line; any more are tried again `isolatedLaterMs` later. */
export const isolatedMax = 100;
export const isolatedLaterMs = 30_000;

/** A body up to this size is light: only the slots bound how many light bodies are held. */
export const lightBytesMax = 32 * 1024;
/** Bytes of bodies and answers read for work that are held at once; one record is always read. */
export const readBytesMax = 8 * 1024 * 1024;

/** A page of a list ends with the item that brings it to this size, both as stored and as shown. */
export const pageBytesMax = 2 * 1024 * 1024;
/** A list that is read piece by piece reads this many bytes at a time, and at least one item. */
export const pieceBytesMax = 1024 * 1024;

export const runStepsMax = 10_000;
export const runGroupMax = 1_000;
/** How deep the JSON of a step may nest. */
export const runStepDepthMax = 256;
/** Bytes of a run's history as it is sent. */
export const runHistoryBytesMax = 64 * 1024 * 1024;
export const runPendingMax = 1_000;
/** Bytes of a step that a wait or an invocation stores, and that its result repeats. */
export const runStepBytesMax = 16 * 1024;
/** Bytes of a run's parts that are read at a time; one part is always read. */
export const runReadBytesMax = 2 * 1024 * 1024;
/** Events kept for a run that came before their wait: in all, and under one event id. */
export const runNotesMax = 1_000;
export const runNotesOfEventMax = 100;
/** Kept events of a run that came by webhooks, which need no token, and the bytes of one. */
export const runHookNotesMax = 100;
export const runHookNoteBytesMax = 4 * 1024 * 1024;
/** How often a run checks whether the previous use of its id is still being delivered. */
export const heldUseMs = 500;
/** Webhooks of a run that keep an address; the latest stay. */
export const runHooksMax = 1_000;
/** Runs that were resumed while they waited for a run that they had invoked, and that wait for that run as well. */
export const runHeirsMax = 100;
/** Names of earlier runs that are kept by a run that was resumed again and again, so that webhooks find it by them. */
export const runAliasesMax = 100;
/** Attempts kept of one delivery of a run (`runAttemptsMax`) and shown of a run (`runAttemptsShownMax`); the latest stay. */
export const runAttemptsMax = 20;
export const runAttemptsShownMax = 100;
export const runWaitMsMax = 365 * 86_400_000;
export const invokeDepthMax = 100;
export const runIdLengthMax = 256;
export const eventIdLengthMax = 1_024;
/** Bytes that are read of the answer to a run's call, whatever the plan says: the answer is the result of a step. */
export const runAnswerBytesMax = 8 * 1024 * 1024;
/** Bytes of such a call's request that are reported beside its answer: in base64 both have to fit into one document of 16 MiB. */
export const runSourceBytesMax = 1024 * 1024;

export const expansionBatchMax = 500;
export const hopsMax = 8;

/** Bytes of response bodies that facts and logs carry (docs/design/wire#the-message-log). */
export const logResponseBytesMax = 64 * 1024;
export const keptAnswerBytesMax = 8 * 1024;

/**
 * Enough for a signed URL of an object store with a session's token in it. The signature, which repeats the URL, fits
 * into the 8 KiB that many receivers accept for one header (ADR 130).
 */
export const urlLengthMax = 4_096;
export const forwardHeadersMax = 64;
export const headerNameLengthMax = 128;
export const headerValueBytesMax = 8 * 1024;
export const forwardHeaderBytesMax = 16 * 1024;
export const labelsMax = 32;
export const labelLengthMax = 128;
export const keyLengthMax = 512;
export const redactItemsMax = 64;
export const flowValueMax = 1_000_000;
export const flowPeriodMsMax = 7 * 86_400_000;
export const flowKeysListedMax = 1_000;
export const expressionLengthMax = 256;
export const expressionDepthMax = 16;

/**
 * Every missed slot that is at most this late fires. If there is none, the last missed slot fires when it is at most
 * `slotLateMsMax` late (docs/design/schedules#missed-slots).
 */
export const slotLateMs = 300_000;
export const slotLateMsMax = 3_600_000;
/** Skipped slots that are counted at once, one for each minute of a day. Slots beyond that are skipped and not counted. */
export const slotsCountedMax = 1_440;
/** The latest messages of a schedule that are remembered. */
export const slotMessagesMax = 100;
