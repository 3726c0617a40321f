/**
 * Judges failed sends, and finds missing rights. kafkajs wraps errors that may be tried again into errors that may not (a connection
 * refused ten times is "non-retriable"), so the cause decides: only a broker's word on the content itself is final.
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

/** Says which right this process lacks, naming topics or group; undefined when the error speaks of no right. */
export function missingRight(
  error: unknown,
  { topics, group }: { readonly topics: readonly string[]; readonly group?: string },
): string | undefined {
  const types = errorTypesOf(error);
  const verb = group === undefined ? "write to" : "read";
  if (types.includes("GROUP_AUTHORIZATION_FAILED"))
    return `there is no right to be in the group ${group}`;
  if (types.includes("TOPIC_AUTHORIZATION_FAILED"))
    return topics.length === 1
      ? `there is no right to ${verb} the topic ${topics.join()}`
      : `there is no right to ${verb} one of the topics ${topics.join(", ")}`;
  if (
    types.includes("CLUSTER_AUTHORIZATION_FAILED") ||
    types.includes("TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
  )
    return "there is no right to write idempotently to the cluster (IdempotentWrite)";
  return undefined;
}
