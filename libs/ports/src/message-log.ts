/** The message log. The workflow-log (or the store's own settle) writes it; the gateway reads it. */
import {
  type AttemptFact,
  type Configuration,
  type LogEvent,
  type LogFilter,
  type LogState,
  type Message,
  type PageRequest,
  type TenantId,
} from "@posthaste/domain";

export type LogEntry = {
  readonly event: LogEvent;
  /** The configuration of the message, without its body. */
  readonly message: Configuration;
  /** The attempt's fact; present on ERROR, RETRY and FAILED. */
  readonly fact?: AttemptFact;
};

/** `positions`: the position of each item, for `PageRequest.after`. Positions are unique and do not change. */
export type Page<T> = {
  readonly items: readonly T[];
  readonly positions: readonly string[];
  readonly next?: string;
};

/** The events of one minute, counted by state; states without events are absent. `minute`: its first millisecond. */
export type MinuteCounts = {
  readonly minute: number;
  readonly counts: Readonly<Partial<Record<LogState, number>>>;
};

export interface MessageLog {
  /**
   * `settle`: the store writes events together with the records. `facts`: the workflow-log writes the facts that it receives, and
   * deliverers write the events that they owe.
   */
  readonly writtenBy: "settle" | "facts";
  /** Inserts the missing events, under ids derived from (message, attempt, state). Without `fact`, inserts only CREATED. */
  append(
    entries: readonly { readonly message: Message; readonly fact?: AttemptFact }[],
  ): Promise<void>;
  list(tenant: TenantId, filter: LogFilter, page: PageRequest): Promise<Page<LogEntry>>;
  /**
   * Returns the minutes from that of `from` to that of `to` that have events, in order. Events are counted as they are written
   * and swept with the log: CREATED by the insert of the record, every other state with its event.
   */
  counts(tenant: TenantId, from: number, to: number): Promise<readonly MinuteCounts[]>;
  /**
   * Calls `grown` within moments of each time that the log gets new events of the tenant, once for many. May also
   * call it when there are none. Returns a function that ends the watch.
   */
  watch(tenant: TenantId, grown: () => void): () => void;
  /** Removes events of the tenant older than `before`, of at most `limit` messages. Returns how many. */
  sweep(tenant: TenantId, before: number, limit: number): Promise<number>;
}
