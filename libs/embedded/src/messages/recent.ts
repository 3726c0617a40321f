/**
 * Records that were inserted a moment ago and wait for a slot: what was just written is not read back and parsed again,
 * and is claimed without a look, if its row says that it is still the same. Owns nothing that is not in the store, too;
 * bounded, oldest out first.
 */
import { type MessageRecord, TurnoverMap } from "@posthaste/domain";

export type Recent = {
  add(position: number, record: MessageRecord): void;
  get(position: number): MessageRecord | undefined;
  drop(position: number): void;
};

const messagesMax = 10_000;
const bytesMax = 32 * 1024 * 1024;
/** What a message weighs beside its body, about. */
const headBytes = 1_024;

export function openRecent(): Recent {
  const kept = new TurnoverMap<number, MessageRecord>();
  let bytes = 0;

  const drop = (position: number): void => {
    const record = kept.get(position);
    if (!record) return;
    kept.delete(position);
    bytes -= record.message.body.length + headBytes;
  };

  return {
    add: (position, record) => {
      drop(position);
      kept.set(position, record);
      bytes += record.message.body.length + headBytes;
      for (const oldest of kept.keys()) {
        if (kept.size <= messagesMax && bytes <= bytesMax) return;
        drop(oldest);
      }
    },
    get: (position) => kept.get(position),
    drop,
  };
}
