/**
 * What a failed send is worth. kafkajs wraps what may be tried again into errors that may not (a connection refused ten
 * times is "non-retriable"), so the cause decides: only what the broker says of the content itself is final.
 */

const refusals: ReadonlySet<unknown> = new Set([
  "MESSAGE_TOO_LARGE",
  "RECORD_LIST_TOO_LARGE",
  "INVALID_RECORD",
  "CORRUPT_MESSAGE",
  "INVALID_TIMESTAMP",
]);
const causesMax = 10;

export function isRefusal(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < causesMax && Error.isError(cause); depth++) {
    if ("type" in cause && refusals.has(cause.type)) return true;
    cause = cause.cause;
  }
  return false;
}
