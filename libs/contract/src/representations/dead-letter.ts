/** A dead letter as it is read: the message, and what the destination said last (protocol/qstash.md §1.8). */
import { type DeadLetter } from "@posthaste/domain";
import { readableBody } from "./body.ts";
import { readableHeaders } from "./hidden.ts";
import { type ReadView, bodyView, messageJson } from "./message.ts";
import { type JsonOf, type deadLetterSchema } from "./schemas.ts";

export type DeadLetterJson = JsonOf<typeof deadLetterSchema>;

export function deadLetterJson(letter: DeadLetter, view: ReadView): DeadLetterJson {
  const { message, response } = letter;
  const body = readableBody(response?.body, bodyView(message, view));
  return {
    ...messageJson(message, view),
    dlqId: letter.id,
    responseStatus: response?.status ?? 0,
    ...(response && {
      responseHeader: readableHeaders(response.headers, message.policy.redaction, view.sha256),
    }),
    ...(body.kind === "text" && { responseBody: body.text }),
    ...(body.kind === "binary" && { responseBodyBase64: body.base64 }),
  };
}

/** A page of them. The cursor is left out at the end. */
export const deadLetterPageJson = (messages: readonly DeadLetterJson[], cursor?: string) => ({
  ...(cursor !== undefined && { cursor }),
  messages,
});
