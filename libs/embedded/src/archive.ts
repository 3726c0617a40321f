/** Rows for messages that a log or a dead letter tells of, and that may never have stood in this store. */
import { type DatabaseSync } from "node:sqlite";
import { type Message } from "@posthaste/domain";
import { type Configurations } from "./messages/configurations.ts";
import { type Names } from "./messages/names.ts";

export type Archive = {
  /** Inside a write: the position under which the configuration stands from now on. */
  place(message: Message): number;
  /** The same, with the body. */
  placeWhole(message: Message): number;
};

export function openArchive(
  db: DatabaseSync,
  names: Names,
  configurations: Configurations,
): Archive {
  const exists = db.prepare("SELECT 1 FROM messages WHERE position = ?");
  const place = (message: Message): number => {
    const { position } = names.note(message.id);
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
