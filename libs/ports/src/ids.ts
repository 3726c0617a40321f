import { type MessageId } from "@posthaste/domain";

/** New random message ids, from the store that will hold them: it may use their position as a key. */
export interface Ids {
  next(): MessageId;
}
