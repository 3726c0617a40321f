/** The headers of a request that is no publish that say which run is meant. */
import { type FlatHeaders } from "../headers/publish-input.ts";
import { dialectOf, prefixLength } from "../wire/dialects.ts";

export const givenRunId = (rawHeaders: FlatHeaders): string | undefined =>
  given(rawHeaders, "workflow-runid");

/**
 * Returns the time that selects one of several uses of a name. Text that is no time is ignored: an endpoint must not be
 * refused.
 */
export function givenCreatedAt(rawHeaders: FlatHeaders): number | undefined {
  const text = given(rawHeaders, "workflow-createdat");
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function given(rawHeaders: FlatHeaders, suffix: string): string | undefined {
  const at = rawHeaders.findIndex((name, i) => {
    const lower = name.toLowerCase();
    return i % 2 === 0 && dialectOf(lower) !== undefined && lower.slice(prefixLength) === suffix;
  });
  return at < 0 ? undefined : rawHeaders[at + 1]?.trim();
}
