/**
 * Writes one wide line per unit of work, named like the event. Fields are ids, sizes, states and durations; never bodies, tokens
 * or header values.
 */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** False when debug lines are discarded; callers then need not build their fields. */
  readonly debugs: boolean;
}
export type LogFields = Readonly<Record<string, unknown>>;
