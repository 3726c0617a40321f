/** The headers of a request as undici takes them: name, value, name, value. */
import { type Headers } from "@posthaste/domain";

/** Flattens headers; names may repeat. Drops the caller's headers that belong to the connection, or follow from URL and body. */
export function flatHeaders(headers: Headers, userAgent: string): string[] {
  const flat: string[] = [];
  let hasUserAgent = false;
  let hasAcceptEncoding = false;
  for (const [name, value] of headers) {
    const lowerName = name.toLowerCase();
    if (unsent.has(lowerName)) continue;
    hasUserAgent ||= lowerName === "user-agent";
    hasAcceptEncoding ||= lowerName === "accept-encoding";
    flat.push(name, value);
  }
  if (!hasUserAgent) flat.push("User-Agent", userAgent);
  // Answers are kept as they come and never decompressed.
  if (!hasAcceptEncoding) flat.push("Accept-Encoding", "identity");
  return flat;
}

const unsent: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
