import { type MessageId } from "@posthaste/domain";

/** New random message ids, from the store that will hold them: it may use their position as a key. */
export interface Ids {
  next(): MessageId;
  /** Of an id made at `time` (Unix milliseconds): an id derived from it sorts with those that were. */
  positionAt(time: number): number;
}
