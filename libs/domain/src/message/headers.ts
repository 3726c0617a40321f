/** Pairs, never an object: names may repeat and may be called `__proto__`. */
export type HeaderPair = readonly [name: string, value: string];
export type Headers = readonly HeaderPair[];
