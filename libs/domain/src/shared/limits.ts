/** Every bound and period of the engine that is no plan's: one place, units in the names. */

/** A claim lasts this long and is renewed at a third of it; the deliverer aborts `leaseSafetyMs` before the end. */
export const leaseMs = 30_000;
export const leaseRenewMs = 10_000;
export const leaseSafetyMs = 5_000;

/** A ring moves the alarm this far ahead; of a record that stays due, twice as far each time. */
export const ringAheadMs = 30_000;
export const ringAheadMsMax = 600_000;
export const ringBatchMax = 500;

/** A promoted message must be claimed within its grant, or it goes back into its line. */
export const grantMs = 30_000;
export const grantBatchMax = 500;

/** A finished record stays readable between these two ages. */
export const finishedKeepMs = 30_000;
export const sweepEveryMs = 15_000;
export const sweepBatchMax = 5_000;
export const tombstoneMs = 86_400_000;

export const deduplicationMs = 600_000;
/** A publisher that meets a pending key takes over with the same id after this wait (reliability.md P10). */
export const deduplicationPendingMs = 1_000;
/** An insert not begun this long after its claim answers 503 (decisions.md 17). */
export const deduplicationClaimMsMax = 20_000;

/** decisions.md 14: this many lost leases run a message alone; `quarantineAfter` makes it a dead letter. */
export const isolateAfter = 5;
export const quarantineAfter = 8;

/** Our own failures do not count as retries; they wait between these two. */
export const deferralMsMin = 1_000;
export const deferralMsMax = 60_000;

export const retryDelayMsMax = 86_400_000;
export const retryAfterMsMax = 86_400_000;
export const backoffJitterMsMax = 1_000;

/** An attempt that runs longer moves to the long pool (decisions.md 15). */
export const longAttemptMs = 60_000;

export const expansionBatchMax = 500;
export const hopsMax = 8;

/** Facts and logs carry headers and response bodies up to these sizes (decisions.md 13). */
export const factHeaderBytesMax = 32 * 1024;
export const logResponseBytesMax = 64 * 1024;

export const urlLengthMax = 2_048;
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
export const expressionLengthMax = 256;
export const expressionDepthMax = 16;
