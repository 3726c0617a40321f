/** Time as a port: nothing below `main.ts` reads a clock or arms a timer of its own. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Runs `task` once after `ms` (at most an hour: a longer wait is re-armed by its owner). Returns how to call it off. */
  after(ms: number, task: () => void): () => void;
}
