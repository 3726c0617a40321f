/** The message log: written by workflow-log (or by the store's own settle), read by the gateway. */
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
  /** The configuration of the message; without its body. */
  readonly message: Configuration;
  /** Present on ERROR, RETRY, FAILED: the attempt's fact. */
  readonly fact?: AttemptFact;
};

/** `positions`: where each item stands, for `PageRequest.after`; no two items share one, and each keeps its own. */
export type Page<T> = {
  readonly items: readonly T[];
  readonly positions: readonly string[];
  readonly next?: string;
};

/** How many events of each state a minute has; states without any are left out. `minute`: its first millisecond. */
export type MinuteCounts = {
  readonly minute: number;
  readonly counts: Readonly<Partial<Record<LogState, number>>>;
};

export interface MessageLog {
  /** `settle`: the store writes events with the records themselves. `facts`: workflow-log writes what it hears, and deliverers what they owe. */
  readonly writtenBy: "settle" | "facts";
  /** Inserts what is missing, under ids derived from (message, attempt, state). `fact` absent: only CREATED. */
  append(
    entries: readonly { readonly message: Message; readonly fact?: AttemptFact }[],
  ): Promise<void>;
  list(tenant: TenantId, filter: LogFilter, page: PageRequest): Promise<Page<LogEntry>>;
  /**
   * Of the minutes from that of `from` to that of `to`, in order, those that have events. They are counted as they are written, and
   * swept with the log: CREATED by the insert of the record, every other state with its event.
   */
  counts(tenant: TenantId, from: number, to: number): Promise<readonly MinuteCounts[]>;
  /**
   * `grown` is called within moments of each time at which the log has events of the tenant that it had not before, once for
   * many, and may be called when it has none. Returns what ends that.
   */
  watch(tenant: TenantId, grown: () => void): () => void;
  /** Removes what of the tenant is older than `before`, at most `limit` messages. Answers how many. */
  sweep(tenant: TenantId, before: number, limit: number): Promise<number>;
}
