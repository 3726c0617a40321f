/** Pairs, never an object: names may repeat, and `__proto__` is a possible name. */
export type HeaderPair = readonly [name: string, value: string];
export type Headers = readonly HeaderPair[];

const connectionNames: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Reports whether a name, in lower case, is hop-by-hop or frames the request (docs/design/wire#headers). */
export const isOfTheConnection = (lower: string): boolean =>
  connectionNames.has(lower) || lower.startsWith("proxy-");
