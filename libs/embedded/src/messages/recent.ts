/**
 * Records that were inserted a moment ago and wait for a slot. They are not read back and parsed again: a claim tries the kept record
 * first, and succeeds if its row is unchanged. Everything here is in the store too. Bounded, oldest out first.
 */
import { type MessageRecord, TurnoverMap } from "@posthaste/domain";

export type Recent = {
  add(position: number, record: MessageRecord): void;
  get(position: number): MessageRecord | undefined;
  drop(position: number): void;
};

const messagesMax = 10_000;
const bytesMax = 32 * 1024 * 1024;
/** The approximate size of a message without its body. */
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
