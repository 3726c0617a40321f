/** What a caller may ask of lists: filters and pages. Each list: any of; between filters: all of. */
import { type LogState } from "../message/log.ts";
import { type DlqId, type MessageId } from "../shared/ids.ts";

/** Of messages by their configuration. Times are inclusive, in Unix milliseconds. */
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

/** Of live messages: which are cancelled together. */
export type LiveFilter = Omit<MessageFilter, "messageIds"> & Pick<LogFilter, "hosts" | "paths">;

export type DeadLetterFilter = MessageFilter & {
  readonly ids?: readonly DlqId[];
  readonly responseStatuses?: readonly number[];
};

export const listOrders = ["earliestFirst", "latestFirst"] as const;
export type ListOrder = (typeof listOrders)[number];

/** An opaque keyset position; the caller signs it before it leaves the house. */
export type PageRequest = {
  readonly after?: string;
  readonly limit: number;
  readonly order: ListOrder;
  /**
   * So much of a body is shown: it comes cut one byte further on, and not at all at 0. One that is shown as its hash comes
   * whole. Absent: all bodies are whole. Together they have a bound in any case: then a page is short.
   */
  readonly bodyBytesMax?: number;
  /** The page ends with the item by which its items have so many bytes, with all that each says. Absent: no bound but that of bodies. */
  readonly bytesMax?: number;
};
