/** How much is there, for operators: nothing is decided by it. Each counts no further than `max`. */
export interface Sizes {
  /** Messages that wait in a lane, of all tenants. */
  waiting(max: number): Promise<number>;
  /** Messages that wait for their turn in a queue, of all tenants. */
  queued(max: number): Promise<number>;
  deadLetters(max: number): Promise<number>;
  /** Runs that are active, and those of them that wait for an event. */
  activeRuns(max: number): Promise<number>;
  waitingRuns(max: number): Promise<number>;
  /** The earliest alarm of a run, of all shards. */
  runAlarm(): Promise<number | undefined>;
}
