/** Waits of runs for events, and the calls that notify them. A request of an active run is never refused with 400. */
import { isFault } from "@posthaste/domain";
import * as z from "zod";
import { noObject } from "../bodies/json-parts.ts";
import { jsonBytesMax, readJson } from "../bodies/json.ts";
import { parseWait, type WaitBody } from "../workflow/wait-body.ts";
import { waiterSchema } from "../workflow/waiter.ts";
import { type BodyRow, endpoint } from "./endpoint.ts";

const notifiedSchema = z
  .array(
    z.object({
      waiter: waiterSchema,
      messageId: z.string().optional().describe("The id of the delivery that the wait has caused"),
      error: z.string().optional().describe("Why the wait has not ended"),
      workflowRunId: z.string(),
      workflowCreatedAt: z.int(),
    }),
  )
  .meta({ id: "Notified" });

const eventBytesMax = 1024 * 1024;

const wait: BodyRow<WaitBody> = {
  schema: z.object({
    url: z.string().describe("The URL of the run's endpoint"),
    timeout: z.string().optional().describe("Duration; default 7d"),
    step: z.looseObject({ stepId: z.int() }),
  }),
  bytesMax: jsonBytesMax,
  parse: (bytes) => {
    const read = bytes.length === 0 ? noObject : readJson(bytes, "", "last");
    if (isFault(read)) return { ...read, fault: "run_refused" };
    return parseWait(read.json);
  },
};

const event: BodyRow<Uint8Array> = { bytesMax: eventBytesMax, parse: (bytes) => bytes };

export const waits = {
  waitForEvent: endpoint({
    method: "post",
    path: "/v2/wait/{eventId}",
    kind: "write",
    isAudited: () => false,
    summary: "Make a step of a run wait for an event; the headers are those of a step",
    body: wait,
    answers: { 200: { says: "The step waits, or has waited" } },
    faults: ["forbidden", "run_ended", "run_refused", "too_large"],
  }),
  notifyEvent: endpoint({
    method: "post",
    path: "/v2/notify/{eventId}",
    kind: "write",
    isAudited: () => false,
    summary: "Send an event to all steps that wait for it; the body is their result",
    body: event,
    answers: {
      200: {
        says: "The waits that the event has ended; the first of them, if there are many",
        schema: notifiedSchema,
      },
    },
    faults: ["forbidden", "too_large"],
  }),
  notifyRun: endpoint({
    method: "post",
    path: "/v2/notify/{runId}/{eventId}",
    kind: "write",
    isAudited: () => false,
    summary: "Send an event to one run; if no step waits for it yet, the next wait takes it",
    body: event,
    answers: {
      200: {
        says: "The waits that the event has ended; the first of them, if there are many",
        schema: notifiedSchema,
      },
    },
    faults: ["forbidden", "too_large", "disk_full"],
  }),
  listWaiters: endpoint({
    method: "get",
    path: "/v2/waiters/{eventId}",
    kind: "list",
    summary: "List the steps that wait for an event",
    answers: {
      200: { says: "The waiting steps, run by run", schema: z.array(waiterSchema), inPieces: true },
    },
    faults: [],
  }),
};
