/** Single messages: read, the same in both dialects, and cancelled. */
import { type Message } from "@posthaste/domain";
import * as z from "zod";
import { cancelBody, cancelQuery } from "../queries/cancel-selection.ts";
import { type ReadView, bodyView, readableBody } from "../representations/body.ts";
import { configurationJson, configurationShape } from "../representations/configuration.ts";
import { readableHeaders, readableHeadersIfAny } from "../representations/hidden.ts";
import { type JsonOf, headersShape, millisecondsShape } from "../representations/schemas.ts";
import { endpoint } from "./endpoint.ts";

export const messageSchema = z
  .object({
    messageId: z.string(),
    ...configurationShape,
    header: headersShape,
    body: z.string().optional().describe("When it is UTF-8 and not empty"),
    bodyBase64: z.string().optional().describe("When the body is not UTF-8"),
    notBefore: millisecondsShape,
    createdAt: millisecondsShape,
    callbackHeader: headersShape.optional(),
    failureCallbackHeader: headersShape.optional(),
    callerIP: z.string(),
  })
  .meta({ id: "Message" });

export type MessageJson = JsonOf<typeof messageSchema>;

const cancelledSchema = z.object({ cancelled: z.int() });
const cancelledInBulkSchema = z.object({
  cancelled: z.int().describe("Of a bulk action that goes on: how many matched"),
  actionId: z.string().optional().describe("The bulk action that goes on"),
});

const dryRunSchema = z
  .object({ dryRun: z.literal(true), matched: z.int().describe("At most 100,000 are counted") })
  .meta({ id: "CancelDryRun" });

export const messages = {
  readMessage: endpoint({
    method: "get",
    path: "/v2/messages/{messageId}",
    kind: "read",
    summary: "Read a message that is being delivered, waits, or has just ended",
    answers: { 200: { says: "The message", schema: messageSchema, isLarge: true } },
    faults: ["not_found"],
  }),
  cancelMessage: endpoint({
    method: "delete",
    path: "/v2/messages/{messageId}",
    kind: "write",
    summary: "Cancel a message",
    answers: { 202: { says: "Cancelled", schema: cancelledSchema } },
    faults: ["forbidden", "not_found"],
  }),
  runMessageNow: endpoint({
    method: "post",
    path: "/v2/messages/{messageId}/retry",
    kind: "write",
    summary: "Deliver a message now that waits for its delay or its retry. Adds no attempt",
    answers: { 200: { says: "It is due" } },
    faults: ["forbidden", "not_found"],
  }),
  cancelMessages: endpoint({
    method: "delete",
    path: "/v2/messages",
    kind: "write",
    summary:
      "Cancel messages by ids or filters, given in the query or in the body; without any, all that there are",
    query: cancelQuery,
    body: cancelBody,
    answers: {
      200: { says: "What would be cancelled", schema: dryRunSchema },
      202: {
        says: "How many were cancelled: not those that had ended",
        schema: cancelledInBulkSchema,
      },
    },
    faults: ["forbidden", "beyond_plan", "too_large", "disk_full"],
  }),
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
