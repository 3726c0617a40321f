/** Every bound and period of the engine that is no plan's: one place, units in the names. */

/** A claim lasts this long and is renewed at a third of it; the deliverer aborts `leaseSafetyMs` before the end. */
export const leaseMs = 30_000;
export const leaseRenewMs = 10_000;
export const leaseSafetyMs = 5_000;
/** A call begins only on a lease that can be relied on for so long; else the lease is renewed first. */
export const leaseToBeginMs = 3_000;

/** What an insert claims for another process runs out so soon: that process may never hear of it. */
export const namedLeaseMs = 10_000;
/** Its first renewal makes it a lease like any other. Most calls have ended by then, and a store that stalls still has time to answer. */
export const namedRenewAfterMs = 1_000;
/** The body of such a message travels with its hint up to this size. */
export const namedBodyBytesMax = 64 * 1024;
/** A deliverer says so often that it is there, and is believed for so long. */
export const rosterEveryMs = 1_000;
export const rosterFreshMs = 3_000;

/** A ring moves the alarm this far ahead; of a record that stays due, twice as far each time. */
export const ringAheadMs = 30_000;
export const ringAheadMsMax = 600_000;
export const ringBatchMax = 500;
/** So long before its alarm a follow-up is left to the alarm: what is begun then may be worked twice. */
export const followUpLeftMs = 10_000;

/** A promoted message must be claimed within its grant, or it goes back into its line. */
export const grantMs = 30_000;
export const grantBatchMax = 500;
/** So many turns of a queue are given, and so many messages of a deleted one named, in one look. */
export const admitBatchMax = 500;
/** A lane's row stays for so long after its last use, and until its rate window is over. */
export const laneKeptMs = 86_400_000;

/** A finished record stays readable between these two ages. */
export const finishedKeepMs = 30_000;
export const sweepEveryMs = 15_000;
export const sweepBatchMax = 5_000;
export const tombstoneMs = 86_400_000;
/** Replaced chunks of a group stay for so long: a publish that has read them may be about to insert its fan-out, for 20 s at most. */
export const replacedChunkKeptMs = 600_000;
/** The oldest due record of a tenant is looked for among so many. */
export const dueSinceRowsMax = 1_000;

/** So many bulk actions of a tenant are under way at once; one that has ended is kept for so long. */
export const bulkActionsMax = 1_000;
export const bulkActionKeptMs = 604_800_000;

export const deduplicationMs = 600_000;
/** A key that was claimed stays pending for this long, so that a late repeat finds the id that its first publish had. */
export const deduplicationPendingMsMax = 600_000;
/** A publisher that meets a pending key takes over with the same id after this wait (docs/design/deduplication#take-over). */
export const deduplicationPendingMs = 1_000;
/** An insert not begun this long after its claim answers 503 (docs/design/deduplication#take-over). */
export const deduplicationClaimMsMax = 20_000;

/** docs/design/record#poisonous-messages: of a lost lease; one that was renewed before counts a single part. */
export const leaseLossParts = 4;
/** With so many a message is called alone; `quarantineAfter` makes it a dead letter. */
export const isolateAfter = 5 * leaseLossParts;
export const quarantineAfter = 8 * leaseLossParts;

/** Our own failures do not count as retries; they wait between these two. */
export const deferralMsMin = 1_000;
export const deferralMsMax = 60_000;
/** So many in a row, and no attempt between them, are an hour: then the message is a dead letter. */
export const deferralsMax = 65;

export const retryDelayMsMax = 86_400_000;
export const retryAfterMsMax = 86_400_000;
export const backoffJitterMsMax = 1_000;

/** An attempt that runs longer waits for its answer, and leaves its short slot to another (ADR 15). */
export const waitingAttemptMs = 1_000;
/** One that runs longer does not count for its origin any more. */
export const longAttemptMs = 60_000;
/** Of those the next is called when one has gone on for so long, and the first when this process has. */
export const isolatedTrialMs = 1_000;
export const isolatedQuietMs = 10_000;
/** So many of them are called or stand in line; any more are tried again `isolatedLaterMs` later. */
export const isolatedMax = 100;
export const isolatedLaterMs = 30_000;

/** Up to this size a body is light: slots bound how many there are. */
export const lightBytesMax = 32 * 1024;
/** Of bodies and answers that are read to be worked on, so many bytes are held at once; one record is always read. */
export const readBytesMax = 8 * 1024 * 1024;

/** A page of a list ends with the item by which it has so many bytes, as it is stored and as it is shown. */
export const pageBytesMax = 2 * 1024 * 1024;
/** A list that is told piece by piece reads so many bytes at a time, and one item at least. */
export const pieceBytesMax = 1024 * 1024;

/** Of a run, and of one of its parallel groups. */
export const runStepsMax = 10_000;
export const runGroupMax = 1_000;
/** How deep the JSON of a step may nest. */
export const runStepDepthMax = 256;
/** Of the history of a run, as it is sent. */
export const runHistoryBytesMax = 64 * 1024 * 1024;
/** Calls, waits and invocations of a run at once. */
export const runPendingMax = 1_000;
/** Of what a wait or an invocation says of its step, which its result repeats. */
export const runStepBytesMax = 16 * 1024;
/** Of a run so many bytes of parts are read at a time, and one part at least. */
export const runReadBytesMax = 2 * 1024 * 1024;
/** Events that came for a run before their wait: of all, and of one. */
export const runNotesMax = 1_000;
export const runNotesOfEventMax = 100;
/** How many of a run's kept events may have come by webhooks, which need no token. */
export const runHookNotesMax = 100;
export const runHookNoteBytesMax = 4 * 1024 * 1024;
/** A run looks so often whether the use of its id before it is being delivered. */
export const heldUseMs = 500;
/** Webhooks of a run that have an address: the latest. */
export const runHooksMax = 1_000;
/** Runs that were resumed while they waited for one that they had invoked, and wait for it as well. */
export const runHeirsMax = 100;
/** Of a run that was resumed again and again: names of those before it, under which webhooks find it. */
export const runAliasesMax = 100;
/** Attempts of one delivery of a run that are kept, and those of a run that are shown: the latest. */
export const runAttemptsMax = 20;
export const runAttemptsShownMax = 100;
export const runWaitMsMax = 365 * 86_400_000;
/** Of runs that were invoked by runs. */
export const invokeDepthMax = 100;
export const runIdLengthMax = 256;
export const eventIdLengthMax = 1_024;
/** What the call of a run is answered is read up to here, whatever the plan says: it is the result of a step. */
export const runAnswerBytesMax = 8 * 1024 * 1024;
/** What such a call has sent is told beside its answer up to here: both have to fit into one document of 16 MiB, in base64. */
export const runSourceBytesMax = 1024 * 1024;

export const expansionBatchMax = 500;
export const hopsMax = 8;

/** Facts and logs carry headers and response bodies up to these sizes (docs/design/wire#the-message-log). */
export const factHeaderBytesMax = 32 * 1024;
export const logResponseBytesMax = 64 * 1024;

/** A signed URL of a store of objects fits, with the token of a session in it; and so does the signature, which repeats the URL, into the 8 KiB that many receivers take of one header (ADR 130). */
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

/** docs/design/schedules#missed-slots: each slot that is not later fires. If there is none, the last fires if it is not later than `slotLateMsMax`. */
export const slotLateMs = 300_000;
export const slotLateMsMax = 3_600_000;
/** So many skipped slots are counted at once: each minute of a day. What is beyond is skipped, and not counted. */
export const slotsCountedMax = 1_440;
/** Of a schedule's last messages so many are remembered. */
export const slotMessagesMax = 100;
