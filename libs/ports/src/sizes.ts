/** Counts for operators; nothing is decided by them. Each counts no further than `max`. */
export interface Sizes {
  /** Counts the messages of all tenants that wait in a lane. */
  waiting(max: number): Promise<number>;
  /** Counts the messages of all tenants that wait for their turn in a queue. */
  queued(max: number): Promise<number>;
  deadLetters(max: number): Promise<number>;
  /** Counts the active runs. `waitingRuns` counts those of them that wait for an event. */
  activeRuns(max: number): Promise<number>;
  waitingRuns(max: number): Promise<number>;
  /** Returns the earliest alarm of a run, of all shards. */
  runAlarm(): Promise<number | undefined>;
}
