/** The shapes of answers, for the types of the representations and for `docs/openapi.json`. Absent fields are left out, never null. */
import { logStates } from "@posthaste/domain";
import * as z from "zod";

/** A schema's type, as a representation gives it away. */
export type JsonOf<S extends z.ZodType> = DeepReadonly<z.output<S>>;
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

const headers = z
  .record(z.string(), z.array(z.string()))
  .describe("Header names in canonical form, each with its values");
const milliseconds = z.int().describe("Unix timestamp in milliseconds");

const configuration = {
  url: z.string().describe("Destination URL, as published"),
  topicName: z.string().optional().describe("URL group, when sent to one"),
  endpointName: z.string().optional(),
  method: z.string(),
  maxRetries: z.int(),
  callback: z.string().optional(),
  failureCallback: z.string().optional(),
  queueName: z.string().optional(),
  scheduleId: z.string().optional(),
  label: z.string().optional().describe("The first label"),
  labels: z.array(z.string()).optional(),
  flowControlKey: z.string().optional(),
  parallelism: z.int().optional(),
  rate: z.int().optional(),
  period: z.int().optional().describe("Seconds; present whenever there is a flow control key"),
  retryDelayExpression: z.string().optional(),
  timeout: z.int().describe("Milliseconds"),
};

export const messageSchema = z
  .object({
    messageId: z.string(),
    ...configuration,
    header: headers,
    body: z.string().optional().describe("When it is UTF-8 and not empty"),
    bodyBase64: z.string().optional().describe("When the body is not UTF-8"),
    notBefore: milliseconds,
    createdAt: milliseconds,
    callbackHeader: headers.optional(),
    failureCallbackHeader: headers.optional(),
    callerIP: z.string(),
  })
  .meta({ id: "Message" });

export const deadLetterSchema = messageSchema
  .extend({
    dlqId: z.string(),
    responseStatus: z.int().describe("0 when there was no response"),
    responseHeader: headers.optional(),
    responseBody: z.string().optional().describe("When it is UTF-8 and not empty"),
    responseBodyBase64: z.string().optional().describe("When the response is not UTF-8"),
  })
  .meta({ id: "DeadLetter" });

export const logEntrySchema = z
  .object({
    time: milliseconds,
    messageId: z.string(),
    state: z.enum(logStates),
    ...configuration,
    error: z.string().optional(),
    nextDeliveryTime: milliseconds.optional(),
    header: headers,
    body: z.string().optional().describe("Base64, while the message or its dead letter exists"),
    callbackHeaders: headers.optional(),
    failureCallbackHeaders: headers.optional(),
    retryDelayExpr: z.string().optional().describe("The same as retryDelayExpression"),
    callerIP: z.string(),
    responseStatus: z.int().optional().describe("On ERROR only, as are the other response fields"),
    responseHeaders: headers.optional(),
    responseHeader: headers.optional().describe("The same as responseHeaders"),
    responseBody: z.string().optional().describe("Base64"),
  })
  .meta({ id: "LogEntry" });

const endpointSchema = z.object({
  url: z.string(),
  name: z.string().optional(),
});

export const groupSchema = z
  .object({
    name: z.string(),
    createdAt: milliseconds,
    updatedAt: milliseconds,
    endpoints: z.array(endpointSchema).describe("In the order in which they were added"),
  })
  .meta({ id: "UrlGroup" });

export const publishResultSchema = z
  .object({
    messageId: z.string(),
    url: z.string().optional(),
    deduplicated: z
      .literal(true)
      .optional()
      .describe("The message is a duplicate and was not sent; messageId is the earlier one's"),
  })
  .meta({ id: "PublishResult" });

export const keysSchema = z
  .object({ current: z.string(), next: z.string() })
  .meta({ id: "SigningKeys" });
export const errorSchema = z.object({ error: z.string() }).meta({ id: "Error" });
