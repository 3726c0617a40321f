import { type MessageId } from "@posthaste/domain";

/** Makes random message ids. The ids come from the store that will hold them, since it may use their position as a key. */
export interface Ids {
  next(): MessageId;
  /** Returns the position of an id made at `time` (Unix milliseconds). An id derived with it sorts among the ids of that time. */
  positionAt(time: number): number;
}
