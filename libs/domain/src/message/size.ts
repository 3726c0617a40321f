/** What a record weighs in memory: its body and the answers in its outbox; all else is small. */
import { type Message, type MessageRecord } from "./message.ts";

export const sizeOf = ({ message, outbox }: Pick<MessageRecord, "message" | "outbox">): number =>
  outbox.reduce((bytes, { response }) => bytes + (response?.body.length ?? 0), message.body.length);

/** What a call of the message sends: its body, or the history of its run. */
export const sentBytes = ({ body, run }: Pick<Message, "body" | "run">): number =>
  body.length + (run?.bytes ?? 0);
