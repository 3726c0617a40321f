/** The headers that say which run is meant, in a request that is not a publish. */
import { type FlatHeaders } from "../headers/publish-input.ts";
import { givenValue } from "../wire/dialects.ts";

export const givenRunId = (rawHeaders: FlatHeaders): string | undefined =>
  givenValue(rawHeaders, "workflow-runid");

/** Returns the time that selects one of several uses of a name. Text that is not a time is ignored: an endpoint must not be refused. */
export function givenCreatedAt(rawHeaders: FlatHeaders): number | undefined {
  const text = givenValue(rawHeaders, "workflow-createdat");
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
