/** Pairs, never an object: names may repeat, and `__proto__` is a possible name. */
export type HeaderPair = readonly [name: string, value: string];
export type Headers = readonly HeaderPair[];

/** Matches the names of headers that are hop-by-hop or frame the request (docs/design/wire#headers). */
export const connectionHeader =
  /^(?:connection|content-length|expect|host|http2-settings|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*)$/i;
