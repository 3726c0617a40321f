/**
 * Messages that were inserted a moment ago and wait for a slot: who reads one of them reads its hot row only. What was
 * just written is not read back and parsed again. Owns nothing that is not in the store, too; bounded, oldest out first.
 */
import { type Message, TurnoverMap } from "@posthaste/domain";

export type Recent = {
  add(position: number, message: Message): void;
  get(position: number): Message | undefined;
  drop(position: number): void;
};

const messagesMax = 10_000;
const bytesMax = 32 * 1024 * 1024;
/** What a message weighs beside its body, about. */
const headBytes = 1_024;

export function openRecent(): Recent {
  const kept = new TurnoverMap<number, Message>();
  let bytes = 0;

  const drop = (position: number): void => {
    const message = kept.get(position);
    if (!message) return;
    kept.delete(position);
    bytes -= message.body.length + headBytes;
  };

  return {
    add: (position, message) => {
      kept.set(position, message);
      bytes += message.body.length + headBytes;
      for (const oldest of kept.keys()) {
        if (kept.size <= messagesMax && bytes <= bytesMax) return;
        drop(oldest);
      }
    },
    get: (position) => kept.get(position),
    drop,
  };
}
