/** What a record weighs in memory: its body and the answers in its outbox; all else is small. */
import { type MessageRecord } from "./message.ts";

export const sizeOf = ({ message, outbox }: Pick<MessageRecord, "message" | "outbox">): number =>
  outbox.reduce((bytes, { response }) => bytes + (response?.body.length ?? 0), message.body.length);
