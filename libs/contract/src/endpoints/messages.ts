/** Single messages: read, the same in both dialects, and cancelled. */
import {
  type Answered,
  type AttemptFact,
  attemptsOf,
  bodyKeptUntil,
  type Configuration,
  limits,
  type LogEvent,
  type LoggedAttempt,
  logStates,
} from "@posthaste/domain";
import * as z from "zod";
import { cancelBody, cancelQuery } from "../queries/cancel-selection.ts";
import { type ReadView, bodyView, readableBody } from "../representations/body.ts";
import { attemptErrorText } from "../representations/attempt-error.ts";
import { configurationJson, configurationShape } from "../representations/configuration.ts";
import { readableHeaders, readableHeadersIfAny } from "../representations/hidden.ts";
import { type JsonOf, headersShape, millisecondsShape } from "../representations/schemas.ts";
import { endpoint } from "./endpoint.ts";

/** The fields that a message and its dead letter share. */
export const publishedSchema = z.object({
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
});

export type PublishedJson = JsonOf<typeof publishedSchema>;

export const answeredShape = {
  answerStatus: z.int().optional().describe("Status of the destination's answer, if one came"),
  answerBytes: z.int().optional().describe("Size of the received part of the answer's body"),
};

export const messageSchema = publishedSchema
  .extend({
    state: z.enum(logStates).describe("The newest state in the log, which may be a moment late"),
    bodyKeptUntil: millisecondsShape
      .optional()
      .describe(
        "Until when the body of a delivered or cancelled message is, or was, kept, by `keepBodiesMs` of the plan. The body is removed earlier if the disk of the store is too full",
      ),
    attempts: z
      .array(
        z.object({
          startedAt: millisecondsShape.optional(),
          endedAt: millisecondsShape,
          tookMs: z.int().optional(),
          ended: z.enum(["delivered", "failed", "canceled"]),
          ...answeredShape,
          answerBody: z
            .string()
            .optional()
            .describe(
              "The beginning of the body that answered the last attempt, at most 8 KiB, when it is UTF-8 and not empty. The answer that delivered a message is kept as long as the message's body, the answer to a failed attempt as long as the log",
            ),
          answerBodyBase64: z.string().optional().describe("When answerBody is not UTF-8"),
          answerTruncated: z
            .literal(true)
            .optional()
            .describe("The answer's body is longer than answerBody, see answerBytes"),
          error: z
            .string()
            .optional()
            .describe("Why there was no answer, or where the answer redirects to"),
        }),
      )
      .describe("The attempts in the log: at most the latest 250, the earliest first"),
  })
  .meta({ id: "Message" });

type MessageJson = JsonOf<typeof messageSchema>;

const cancelledSchema = z.object({ cancelled: z.int() });
const cancelledInBulkSchema = z.object({
  cancelled: z.int().describe("Present if a bulk action continues the call: how many matched"),
  actionId: z.string().optional().describe("Present if a bulk action continues the call: its id"),
});

const dryRunSchema = z
  .object({ dryRun: z.literal(true), matched: z.int().describe("At most 100,000 are counted") })
  .meta({ id: "CancelDryRun" });

export const messages = {
  readMessage: endpoint({
    method: "get",
    path: "/v2/messages/{messageId}",
    kind: "read",
    summary: "Read a message, with its attempts, for as long as its log is kept",
    answers: { 200: { says: "The message", schema: messageSchema, isLarge: true } },
    faults: ["not_found"],
  }),
  cancelMessage: endpoint({
    method: "delete",
    path: "/v2/messages/{messageId}",
    kind: "act",
    summary: "Cancel a message",
    answers: { 202: { says: "Cancelled", schema: cancelledSchema } },
    faults: ["forbidden", "not_found"],
  }),
  runMessageNow: endpoint({
    method: "post",
    path: "/v2/messages/{messageId}/retry",
    kind: "act",
    summary: "Deliver a message now that waits for its delay or a retry. Adds no attempt",
    answers: { 200: { says: "The message is due" } },
    faults: ["forbidden", "not_found"],
  }),
  cancelMessages: endpoint({
    method: "delete",
    path: "/v2/messages",
    kind: "act",
    summary:
      "Cancel messages by ids or filters in the query or in the body; without any, all messages",
    query: cancelQuery,
    body: cancelBody,
    answers: {
      200: { says: "How many would be cancelled", schema: dryRunSchema },
      202: {
        says: "How many were cancelled, without messages that had ended",
        schema: cancelledInBulkSchema,
      },
    },
    faults: ["forbidden", "beyond_plan", "too_large", "disk_full"],
  }),
};

type Published = Configuration & { readonly body?: Uint8Array };

export function publishedJson(message: Published, view: ReadView): PublishedJson {
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

type Logged = { readonly event: LogEvent; readonly fact?: AttemptFact };

/**
 * `log` is in the order of time, `keptMs` is how long the plan keeps bodies, `answer` is the kept part of the last
 * attempt's answer. Without a body the message is read from its log.
 */
export function messageJson(
  message: Published,
  log: readonly Logged[],
  view: ReadView & { readonly keptMs: number; readonly answer?: Uint8Array | undefined },
): MessageJson {
  const events = log.map(({ event }) => event);
  const state = events.at(-1)?.state ?? "CREATED";
  const keptUntil = bodyKeptUntil(message, events, view.keptMs);
  return {
    ...publishedJson(message, view),
    state,
    ...(keptUntil !== undefined && { bodyKeptUntil: keptUntil }),
    attempts: attemptsOf(log).map((attempt, n, { length }) => ({
      ...attemptJson(message, attempt),
      ...(n === length - 1 && answerJson(message, attempt, view)),
    })),
  };
}

function attemptJson(
  { url, policy }: Configuration,
  { startedAt, endedAt, ended, answered, fact }: LoggedAttempt,
): MessageJson["attempts"][number] {
  const error = fact && attemptErrorText(fact, url, policy.redaction);
  return {
    ...(startedAt !== undefined && { startedAt }),
    endedAt,
    ...(startedAt !== undefined && { tookMs: endedAt - startedAt }),
    ended,
    ...answeredJson(answered),
    ...(error !== undefined && { error }),
  };
}

function answerJson(
  message: Configuration,
  { answered }: LoggedAttempt,
  { answer, sha256 }: ReadView & { readonly answer?: Uint8Array | undefined },
) {
  const bodyBytesMax = limits.keptAnswerBytesMax;
  const body = readableBody(answer, bodyView(message, { sha256, bodyBytesMax }));
  const shownBytes = Math.min(answer?.length ?? 0, bodyBytesMax);
  return {
    ...(body.kind === "text" && { answerBody: body.text }),
    ...(body.kind === "binary" && { answerBodyBase64: body.base64 }),
    ...(answer && answered && answered.bytes > shownBytes && { answerTruncated: true as const }),
  };
}

export const answeredJson = (answered: Answered | undefined) =>
  answered ? { answerStatus: answered.status, answerBytes: answered.bytes } : {};
