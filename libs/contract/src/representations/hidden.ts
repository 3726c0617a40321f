/** Redacts read values, once: a value that a fact redacted on its way into the log is left as it is. */
import {
  type Headers,
  type Redaction,
  type Sha256Hex,
  groupedHeaders,
  redacted,
  redactsHeader,
} from "@posthaste/domain";

/** Returns `{Name: [value, …]}` with the values of the headers in `redaction` hidden. */
export function readableHeaders(
  headers: Headers,
  redaction: Redaction | undefined,
  sha256: Sha256Hex,
): Readonly<Record<string, readonly string[]>> {
  if (!redaction) return groupedHeaders(headers);
  const hide = (value: string) => (isRedacted(value) ? value : redacted(value, sha256));
  return groupedHeaders(
    headers.map(([name, value]) => [name, redactsHeader(redaction, name) ? hide(value) : value]),
  );
}

export const isRedacted = (value: string): boolean => /^REDACTED:[0-9a-f]{64}$/.test(value);

/** Returns the same, or undefined when there are no headers. */
export function readableHeadersIfAny(
  headers: Headers | undefined,
  redaction: Redaction | undefined,
  sha256: Sha256Hex,
): Readonly<Record<string, readonly string[]>> | undefined {
  return headers && headers.length > 0 ? readableHeaders(headers, redaction, sha256) : undefined;
}
