/** The table of endpoints: what each takes, answers and refuses. `docs/openapi.json` and `docs/errors.md` are made from it. */
import { type FaultCode } from "@posthaste/domain";
import * as z from "zod";
import { removeEndpointsSchema, upsertEndpointsSchema } from "../bodies/endpoints.ts";
import { deadLetterParameters } from "../queries/dead-letter-query.ts";
import { logParameters } from "../queries/log-query.ts";
import {
  deadLetterSchema,
  groupSchema,
  keysSchema,
  logEntrySchema,
  messageSchema,
  publishResultSchema,
} from "../representations/schemas.ts";
import { type EndpointEntry } from "./endpoint-entry.ts";
import { managementEndpoints } from "./management-endpoints.ts";

export const faultsEverywhere: readonly FaultCode[] = [
  "unauthorized",
  "method_not_allowed",
  "too_many_requests",
  "headers_too_large",
  "internal",
  "overloaded",
];

const cursor = z.string().optional().describe("For the next page; absent on the last");
const cancelled = z.object({ cancelled: z.int() });
const page = <Key extends string>(key: Key, element: z.ZodType) =>
  z.object({ cursor, [key]: z.array(element) });

const gatewayEndpoints: readonly EndpointEntry[] = [
  {
    method: "post",
    path: "/v2/publish/{destination}",
    summary:
      "Publish a message to a URL, which is appended as it is, or to a URL group, which makes one message for each endpoint",
    publishes: true,
    answers: [
      {
        status: 200,
        says: "Accepted and durable. For a URL group an array, one element for each endpoint in order",
        schema: z.union([publishResultSchema, z.array(publishResultSchema)]),
      },
      {
        status: 202,
        says: "A duplicate: accepted, not sent. Elements of an array say so themselves",
        schema: publishResultSchema,
      },
    ],
    faults: [
      "malformed",
      "forbidden",
      "not_found",
      "beyond_plan",
      "too_large",
      "outcome_unknown",
      "disk_full",
    ],
  },
  {
    method: "get",
    path: "/v2/messages/{messageId}",
    summary: "Read a message that is being delivered, waits, or has just ended",
    answers: [{ status: 200, says: "The message", schema: messageSchema }],
    faults: ["not_found"],
  },
  {
    method: "delete",
    path: "/v2/messages/{messageId}",
    summary: "Cancel a message",
    answers: [{ status: 202, says: "Cancelled", schema: cancelled }],
    faults: ["forbidden", "not_found"],
  },
  {
    method: "post",
    path: "/v2/topics/{urlGroupName}/endpoints",
    summary: "Add endpoints to a URL group, which is made if there is none",
    body: upsertEndpointsSchema,
    answers: [{ status: 200, says: "Added" }],
    faults: ["malformed", "forbidden", "beyond_plan", "too_large"],
  },
  {
    method: "delete",
    path: "/v2/topics/{urlGroupName}/endpoints",
    summary: "Remove endpoints by name or URL; a group without endpoints is removed",
    body: removeEndpointsSchema,
    answers: [{ status: 200, says: "Removed" }],
    faults: ["malformed", "forbidden", "not_found", "too_large"],
  },
  {
    method: "get",
    path: "/v2/topics",
    summary: "List URL groups",
    answers: [{ status: 200, says: "All groups", schema: z.array(groupSchema) }],
    faults: [],
  },
  {
    method: "get",
    path: "/v2/topics/{urlGroupName}",
    summary: "Read a URL group",
    answers: [{ status: 200, says: "The group", schema: groupSchema }],
    faults: ["malformed", "not_found"],
  },
  {
    method: "delete",
    path: "/v2/topics/{urlGroupName}",
    summary: "Remove a URL group; messages already made are not touched",
    answers: [{ status: 200, says: "Removed, or there was none" }],
    faults: ["malformed", "forbidden"],
  },
  {
    method: "get",
    path: "/v2/dlq",
    summary: "List dead letters",
    query: deadLetterParameters,
    answers: [{ status: 200, says: "A page", schema: page("messages", deadLetterSchema) }],
    faults: ["malformed"],
  },
  {
    method: "get",
    path: "/v2/dlq/{dlqId}",
    summary: "Read a dead letter",
    answers: [{ status: 200, says: "The dead letter", schema: deadLetterSchema }],
    faults: ["not_found"],
  },
  {
    method: "delete",
    path: "/v2/dlq/{dlqId}",
    summary: "Remove a dead letter",
    answers: [{ status: 200, says: "Removed" }],
    faults: ["forbidden", "not_found"],
  },
  {
    method: "get",
    path: "/v2/events",
    summary: "List what happened to messages, newest first",
    query: logParameters,
    answers: [{ status: 200, says: "A page", schema: page("events", logEntrySchema) }],
    faults: ["malformed"],
  },
  {
    method: "get",
    path: "/v2/logs",
    summary: "The same as /v2/events, also grouped by message",
    query: logParameters,
    answers: [
      {
        status: 200,
        says: "A page; with groupBy=messageId, of messages with their events",
        schema: z.union([
          z.object({ cursor, events: z.array(logEntrySchema), logs: z.array(logEntrySchema) }),
          page("messages", z.object({ messageId: z.string(), events: z.array(logEntrySchema) })),
        ]),
      },
    ],
    faults: ["malformed"],
  },
  {
    method: "get",
    path: "/v2/keys",
    summary: "Read the keys that deliveries are signed with",
    answers: [{ status: 200, says: "Both keys", schema: keysSchema }],
    faults: [],
  },
];

export const endpoints: readonly EndpointEntry[] = [...gatewayEndpoints, ...managementEndpoints];
