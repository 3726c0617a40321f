/** The bytes that a record takes in memory: its body and the answers in its outbox; the rest is small. */
import { type Headers } from "./headers.ts";
import { type Configuration, type Message, type MessageRecord } from "./message.ts";
import { type CallbackPlan } from "./policy.ts";

export const sizeOf = ({ message, outbox }: Pick<MessageRecord, "message" | "outbox">): number =>
  outbox.reduce((bytes, { response }) => bytes + (response?.body.length ?? 0), message.body.length);

/** Returns the bytes that a call of the message sends: its body, or the history of its run. */
export const sentBytes = ({ body, run }: Pick<Message, "body" | "run">): number =>
  body.length + (run?.bytes ?? 0);

/** Estimates the size of a message without its body, in memory and as text: the caller's fields, and about a kilobyte of its own. */
export const configurationBytes = ({ headers, policy, url }: Configuration): number =>
  ownBytes +
  url.length +
  headerBytes(headers) +
  callbackBytes(policy.callback) +
  callbackBytes(policy.failureCallback);

const ownBytes = 1_024;
const callbackBytes = (plan: CallbackPlan | undefined): number =>
  plan ? plan.url.length + headerBytes(plan.headers) : 0;

function headerBytes(headers: Headers): number {
  let bytes = 0;
  for (const [name, value] of headers) bytes += name.length + value.length + separatorBytes;
  return bytes;
}
const separatorBytes = 6;
