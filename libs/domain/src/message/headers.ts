/** Pairs, never an object: names may repeat, and `__proto__` is a possible name. */
export type HeaderPair = readonly [name: string, value: string];
export type Headers = readonly HeaderPair[];
