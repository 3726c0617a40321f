/** A message as it is read: the same in both dialects (interface.md, Message; protocol/qstash.md §1.4.1). */
import { type Message, type Sha256Hex } from "@posthaste/domain";
import { readableBody } from "./body.ts";
import { configurationJson } from "./configuration.ts";
import { readableHeaders, readableHeadersIfAny } from "./hidden.ts";
import { type JsonOf, type messageSchema } from "./schemas.ts";

export type MessageJson = JsonOf<typeof messageSchema>;

export type ReadView = {
  readonly sha256: Sha256Hex;
  /** Longer bodies are cut there; 0 leaves them out. Absent: whole. */
  readonly bodyBytesMax?: number;
};

export function messageJson(message: Message, view: ReadView): MessageJson {
  const { redaction, callback, failureCallback } = message.policy;
  const { sha256 } = view;
  const callbackHeader = readableHeadersIfAny(callback?.headers, redaction, sha256);
  const failureCallbackHeader = readableHeadersIfAny(failureCallback?.headers, redaction, sha256);
  const body = readableBody(message.body, bodyView(message, view));
  return {
    messageId: message.id,
    ...configurationJson(message),
    header: readableHeaders(message.headers, redaction, sha256),
    ...(body.kind === "text" && { body: body.text }),
    ...(body.kind === "binary" && { bodyBase64: body.base64 }),
    notBefore: message.notBefore,
    createdAt: message.createdAt,
    ...(callbackHeader && { callbackHeader }),
    ...(failureCallbackHeader && { failureCallbackHeader }),
  };
}

export const bodyView = (
  { policy: { redaction } }: Omit<Message, "body">,
  { sha256, bodyBytesMax }: ReadView,
) => ({ redaction, sha256, ...(bodyBytesMax !== undefined && { bytesMax: bodyBytesMax }) });
