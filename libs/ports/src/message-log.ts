/** The message log: written by workflow-log (or by the store's own settle), read by the gateway. */
import { type AttemptFact, type LogEvent, type LogState, type Message, type MessageId, type TenantId } from "@posthaste/domain";

export type LogEntry = {
  readonly event: LogEvent;
  /** The configuration of the message; without its body. */
  readonly message: Omit<Message, "body">;
  /** Present on ERROR, RETRY, FAILED: the attempt's fact. */
  readonly fact?: AttemptFact;
};

/** Each list: any of; between filters: all of. Times are inclusive, in Unix milliseconds. */
export type LogFilter = {
  readonly messageIds?: readonly MessageId[];
  readonly states?: readonly LogState[];
  readonly urls?: readonly string[];
  readonly hosts?: readonly string[];
  readonly paths?: readonly string[];
  readonly groups?: readonly string[];
  readonly scheduleIds?: readonly string[];
  readonly queueNames?: readonly string[];
  readonly labels?: readonly string[];
  readonly flowControlKeys?: readonly string[];
  readonly callerIps?: readonly string[];
  readonly from?: number;
  readonly to?: number;
};

/** An opaque keyset position; the caller signs it before it leaves the house. */
export type PageRequest = { readonly after?: string; readonly limit: number; readonly order: "earliestFirst" | "latestFirst" };
export type Page<T> = { readonly items: readonly T[]; readonly next?: string };

export interface MessageLog {
  /** Inserts what is missing, under ids derived from (message, attempt, state). `fact` absent: only CREATED. */
  append(entries: readonly { readonly message: Message; readonly fact?: AttemptFact }[]): Promise<void>;
  list(tenant: TenantId, filter: LogFilter, page: PageRequest): Promise<Page<LogEntry>>;
  /** Removes what is older than `before`, at most `limit` messages. Answers how many. */
  sweep(before: number, limit: number): Promise<number>;
}
