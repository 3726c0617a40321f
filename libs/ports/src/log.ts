/** One wide line per unit of work, named like the event. Ids, sizes, states and durations; never bodies, tokens or header values. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** False when a debug line would go nowhere: its fields need not be made. */
  readonly debugs: boolean;
}
export type LogFields = Readonly<Record<string, unknown>>;
