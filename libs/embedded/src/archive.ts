/** Rows for the messages of log entries and dead letters, which may never have been records of this store. */
import { type Message } from "@posthaste/domain";
import { type Store } from "./messages/store.ts";

export type Archive = {
  /** Stores the message's configuration where it is missing, and returns its position. For use inside a write. */
  place(message: Message): number;
  /** Does the same as `place`, and stores the body too. */
  placeWhole(message: Message): number;
};

export function openArchive({ db, names, configurations, wholes }: Store): Archive {
  const exists = db.prepare("SELECT 1 FROM messages WHERE position = ?");
  const place = (message: Message): number => {
    const { position } = names.note(message.id);
    wholes.split(message, position);
    if (!configurations.has(position)) configurations.put(position, message);
    return position;
  };
  return {
    place,
    placeWhole: (message) => {
      const position = place(message);
      if (!exists.get(position)) configurations.putBody(position, message.body);
      return position;
    },
  };
}
