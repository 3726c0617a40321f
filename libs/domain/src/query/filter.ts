/** Filters and pages of lists. A list in a filter matches any of its values; all filters that are given must match. */
import { type LogState } from "../message/log.ts";
import { type DlqId, type MessageId } from "../shared/ids.ts";

/** Filters messages by their configuration. Times are inclusive, in Unix milliseconds. */
export type MessageFilter = {
  readonly messageIds?: readonly MessageId[];
  readonly urls?: readonly string[];
  readonly groups?: readonly string[];
  readonly scheduleIds?: readonly string[];
  readonly queueNames?: readonly string[];
  readonly labels?: readonly string[];
  readonly flowControlKeys?: readonly string[];
  readonly callerIps?: readonly string[];
  readonly from?: number;
  readonly to?: number;
};

export type LogFilter = MessageFilter & {
  readonly states?: readonly LogState[];
  readonly hosts?: readonly string[];
  readonly paths?: readonly string[];
};

export type LiveFilter = Omit<MessageFilter, "messageIds"> & Pick<LogFilter, "hosts" | "paths">;

export type DeadLetterFilter = MessageFilter & {
  readonly ids?: readonly DlqId[];
  readonly responseStatuses?: readonly number[];
};

export const listOrders = ["earliestFirst", "latestFirst"] as const;
export type ListOrder = (typeof listOrders)[number];

/** `after` is an opaque keyset position; the caller signs it before a client sees it. */
export type PageRequest = {
  readonly after?: string;
  readonly limit: number;
  readonly order: ListOrder;
  /**
   * How many bytes of a body are shown: a longer body comes cut one byte further on, and none comes at 0. A body that is
   * shown as its hash comes whole. Absent: all bodies are whole. The bodies of a page have a bound together in any case,
   * which makes a page short.
   */
  readonly bodyBytesMax?: number;
  /**
   * The page ends with the item that brings its items, with everything that they say, to this many bytes. Absent: only the
   * bound of bodies holds.
   */
  readonly bytesMax?: number;
};
