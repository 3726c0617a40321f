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

/**
 * How many bytes of a body are shown: a longer body is cut one byte later, and 0 shows none. A body that is shown as
 * its hash is returned whole. If absent, all bodies are whole. The bodies of a page together always have a bound,
 * which makes a page short.
 */
export type PageRequest = {
  readonly after?: string;
  readonly limit: number;
  readonly order: ListOrder;
  /** The page ends with the item with which its items, as shown, reach this many bytes. If absent, only the bound of bodies applies. */
  readonly bodyBytesMax?: number;
  /**
   * The page ends with the item that brings its items, with everything that they say, to this many bytes. Absent: only the
   * bound of bodies holds.
   */
  readonly bytesMax?: number;
};
