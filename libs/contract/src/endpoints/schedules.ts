/** Schedules: made and replaced by a raw target, which ends in the destination; read alike in both dialects. */
import {
  type Fault,
  isFault,
  type MessageRecord,
  type Schedule,
  type ScheduleId,
} from "@posthaste/domain";
import * as z from "zod";
import { type PagePlace, parsePlace } from "../queries/page.ts";
import { integer, readQuery } from "../queries/query-values.ts";
import { type ReadView, readableBody } from "../representations/body.ts";
import { policyJson, policyShape } from "../representations/configuration.ts";
import { readableHeaders, readableHeadersIfAny } from "../representations/hidden.ts";
import { type JsonOf, headersShape, millisecondsShape } from "../representations/schemas.ts";
import { endpoint } from "./endpoint.ts";
import { type RawTarget } from "./raw-target.ts";

const stateShape = z.enum(["IN_PROGRESS", "SUCCESS", "FAIL"]);
export type SlotState = z.output<typeof stateShape>;

const scheduleSchema = z
  .object({
    scheduleId: z.string(),
    cron: z.string().describe("As given, trimmed"),
    destination: z.string().describe("A URL, or the name of a URL group"),
    createdAt: millisecondsShape,
    ...policyShape,
    retries: z.int(),
    header: headersShape,
    body: z.string().optional().describe("When it is UTF-8 and not empty"),
    bodyBase64: z.string().optional().describe("When the body is not UTF-8"),
    delay: z.int().optional().describe("Seconds from each slot to its delivery"),
    callbackHeader: headersShape.optional(),
    failureCallbackHeader: headersShape.optional(),
    callerIP: z.string(),
    queueName: z.string().optional(),
    isPaused: z.boolean(),
    lastScheduleTime: millisecondsShape.optional().describe("The last slot that fired"),
    nextScheduleTime: millisecondsShape.optional().describe("Absent while paused"),
    lastScheduleStates: z
      .record(z.string(), stateShape)
      .optional()
      .describe(
        "The states of the messages of the last slot, at most 100, when a single schedule is read",
      ),
    error: z.string().optional().describe("Why the last slot made no message"),
  })
  .meta({ id: "Schedule" });

export type ScheduleJson = JsonOf<typeof scheduleSchema>;

const createdSchema = z.object({ scheduleId: z.string() });
const dryRunSchema = z.object({
  dryRun: z.literal(true),
  nextScheduleTimes: z
    .array(millisecondsShape)
    .describe("The next five times, or fewer if there are no more"),
});

export const createSchedule = {
  operation: "createSchedule",
  kind: "write",
  prefix: "/v2/schedules",
  names: [],
  routed: /^[^/?]+\/(?:pause|resume)\/?(?:\?|$)/i,
  summary:
    "Make a schedule to a URL or a URL group, or replace the one that the header Schedule-Id names",
  answers: {
    200: {
      says: "Made and durable; or, after a dry run, the next times",
      schema: z.union([createdSchema, dryRunSchema]),
    },
    202: { says: "A duplicate of an earlier call: nothing was changed", schema: createdSchema },
  },
  faults: ["forbidden", "beyond_plan", "too_large", "outcome_unknown", "disk_full"],
} as const satisfies RawTarget;

const listParameters = new Set(["count", "cursor"]);

const named = { names: ["scheduleId"] } as const;

export const schedules = {
  listSchedules: endpoint({
    method: "get",
    path: "/v2/schedules",
    kind: "list",
    summary: "List schedules, oldest first",
    query: { names: listParameters, parse: parseList },
    answers: {
      200: {
        says: "All schedules, or a page of count schedules. Bodies longer than 64 KiB are left out, and so are bodies after the first 16 MiB",
        schema: z.array(scheduleSchema),
        inPieces: true,
        headers: {
          "Next-Cursor": "With count, if there are more: the cursor of the next page",
        },
      },
    },
    faults: [],
  }),
  readSchedule: endpoint({
    method: "get",
    path: "/v2/schedules/{scheduleId}",
    kind: "read",
    ...named,
    summary: "Read a schedule",
    answers: { 200: { says: "The schedule", schema: scheduleSchema, isLarge: true } },
    faults: ["not_found"],
  }),
  removeSchedule: endpoint({
    method: "delete",
    path: "/v2/schedules/{scheduleId}",
    kind: "write",
    ...named,
    summary: "Remove a schedule; messages already made are not touched",
    answers: { 200: { says: "Removed, or there was none" } },
    faults: ["forbidden"],
  }),
  pauseSchedule: endpoint({
    method: "patch",
    path: "/v2/schedules/{scheduleId}/pause",
    kind: "act",
    ...named,
    summary: "Pause a schedule: slots during the pause do not fire later",
    answers: { 200: { says: "Paused" } },
    faults: ["forbidden", "not_found"],
  }),
  pauseScheduleByPost: endpoint({
    method: "post",
    path: "/v2/schedules/{scheduleId}/pause",
    kind: "act",
    ...named,
    summary: "The same as PATCH",
    answers: { 200: { says: "Paused" } },
    faults: ["forbidden", "not_found"],
  }),
  resumeSchedule: endpoint({
    method: "patch",
    path: "/v2/schedules/{scheduleId}/resume",
    kind: "act",
    ...named,
    summary: "Resume a schedule from now on",
    answers: { 200: { says: "Resumed" } },
    faults: ["forbidden", "not_found"],
  }),
  resumeScheduleByPost: endpoint({
    method: "post",
    path: "/v2/schedules/{scheduleId}/resume",
    kind: "act",
    ...named,
    summary: "The same as PATCH",
    answers: { 200: { says: "Resumed" } },
    faults: ["forbidden", "not_found"],
  }),
};

const countMax = 1_000;

export type ScheduleListQuery = PagePlace & {
  /** Absent for all. */
  readonly count?: number;
};

function parseList(search: string): ScheduleListQuery | Fault {
  const values = readQuery(search, listParameters);
  if (isFault(values)) return values;
  const count = integer(values, "count", { min: 1, max: countMax });
  if (isFault(count)) return count;
  const place = parsePlace(values);
  if (isFault(place)) return place;
  return { ...place, ...(count !== undefined && { count }) };
}

export const scheduleResultText = (id: ScheduleId): string => `{"scheduleId":"${id}"}`;
export const dryRunText = (times: readonly number[]): string =>
  `{"dryRun":true,"nextScheduleTimes":[${times.join(",")}]}`;

/** `body`: undefined if it is not shown. */
export function scheduleJson(
  schedule: Schedule,
  body: Uint8Array | undefined,
  { sha256 }: Pick<ReadView, "sha256">,
  states?: Readonly<Record<string, SlotState>>,
): ScheduleJson {
  const { template, last } = schedule;
  const { policy, destination } = template;
  const { redaction, callback, failureCallback } = policy;
  const callbackHeader = readableHeadersIfAny(callback?.headers, redaction, sha256);
  const failureCallbackHeader = readableHeadersIfAny(failureCallback?.headers, redaction, sha256);
  const shown = readableBody(body, { redaction, sha256 });
  return {
    scheduleId: schedule.id,
    cron: schedule.cron,
    destination: destination.kind === "url" ? destination.url : destination.name,
    createdAt: schedule.createdAt,
    method: template.method,
    retries: policy.retriesMax,
    ...policyJson(policy),
    header: readableHeaders(template.headers, redaction, sha256),
    ...(shown.kind === "text" && { body: shown.text }),
    ...(shown.kind === "binary" && { bodyBase64: shown.base64 }),
    ...(template.delayMs > 0 && { delay: Math.ceil(template.delayMs / 1_000) }),
    ...(callbackHeader && { callbackHeader }),
    ...(failureCallbackHeader && { failureCallbackHeader }),
    callerIP: template.callerIp,
    ...(template.queue !== undefined && { queueName: template.queue }),
    isPaused: schedule.isPaused,
    ...(last && { lastScheduleTime: last.slot }),
    ...(!schedule.isPaused && schedule.next !== undefined && { nextScheduleTime: schedule.next }),
    ...(states && { lastScheduleStates: states }),
    ...(last?.error !== undefined && { error: last.error }),
  };
}

export function slotStateOf({ state }: Pick<MessageRecord, "state">): SlotState {
  if (state.kind === "delivered") return "SUCCESS";
  return state.kind === "failed" || state.kind === "canceled" ? "FAIL" : "IN_PROGRESS";
}
