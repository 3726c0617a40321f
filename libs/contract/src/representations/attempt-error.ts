/** Says why an attempt failed, in words for people. */
import { type Answer, type Redaction, redactsHeader } from "@posthaste/domain";

type Failed = {
  /** The stored error: why there was no answer, or no whole one. */
  readonly error?: string | undefined;
  readonly response?: Pick<Answer, "headers" | "status"> | undefined;
};

/** Returns undefined if the status alone says why. */
export function attemptErrorText(
  { error, response }: Failed,
  url: string,
  redaction: Redaction | undefined,
): string | undefined {
  if (error !== undefined || !response) return error;
  const { headers, status } = response;
  const location = headers.find(([name]) => name.toLowerCase() === "location")?.[1];
  if (status < 300 || status > 399 || location === undefined) return undefined;
  const place = redactsHeader(redaction, "location") ? undefined : placeOf(location, url);
  return `redirects are not followed: ${status}${place === undefined ? "" : ` to ${place}`}`;
}

const placeCharsMax = 256;

/** Leaves out the parts of a URL that may be secret: user, query and fragment. */
function placeOf(location: string, base: string): string | undefined {
  const url = URL.parse(location, base);
  if (!url) return undefined;
  const place = `${url.protocol}//${url.host}${url.pathname}`;
  return place.length > placeCharsMax ? `${place.slice(0, placeCharsMax)}…` : place;
}
