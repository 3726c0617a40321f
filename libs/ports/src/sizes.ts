/** How much is there, for operators: nothing is decided by it. Each counts no further than `max`. */
export interface Sizes {
  /** Messages that wait in a lane, of all tenants. */
  waiting(max: number): Promise<number>;
  deadLetters(max: number): Promise<number>;
}
