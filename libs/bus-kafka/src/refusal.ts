/**
 * Classifies failed sends. kafkajs wraps errors that may be retried into errors that may not (a connection refused ten
 * times is "non-retriable"), so the cause decides: only a broker's answer about the content itself is final.
 */

const refusals: ReadonlySet<string> = new Set([
  "MESSAGE_TOO_LARGE",
  "RECORD_LIST_TOO_LARGE",
  "INVALID_RECORD",
  "CORRUPT_MESSAGE",
  "INVALID_TIMESTAMP",
]);
const causesMax = 10;

export function errorTypesOf(error: unknown): readonly string[] {
  const types: string[] = [];
  let cause = error;
  for (let depth = 0; depth < causesMax && Error.isError(cause); depth++) {
    if ("type" in cause) types.push(String(cause.type));
    cause = cause.cause;
  }
  return types;
}

export const isRefusal = (error: unknown): boolean =>
  errorTypesOf(error).some((type) => refusals.has(type));
