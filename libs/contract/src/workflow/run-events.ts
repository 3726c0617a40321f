/**
 * The events of a run: its start and its end, and for each step its beginning, its failed attempts and its end
 * (docs/workflows). The events are made from the run as its readers see it, so they hide the same values.
 */
import { isFailed, type PartKey, type Run } from "@posthaste/domain";
import * as z from "zod";
import { type ReadView } from "../representations/body.ts";
import { headersShape, type JsonOf, millisecondsShape } from "../representations/schemas.ts";
import { runStates, runStepSchema, type RunStepJson, stepStates } from "./run-step.ts";
import { runJson, type StepGroup } from "./run-view.ts";
import { partFor, type RunReading } from "./step-view.ts";

export const runEventSchema = z
  .object({
    time: millisecondsShape,
    state: z.enum([...runStates, ...stepStates]),
    workflowRunId: z.string(),
    workflowUrl: z.string(),
    workflowCreatedAt: millisecondsShape,
    stepInfo: runStepSchema.optional().describe("Present if the event belongs to a step"),
    nextDeliveryTime: millisecondsShape.optional(),
    error: z.string().optional().describe("The error of the failed attempt, or of the run"),
    responseStatus: z.int().optional().describe("0 when there was no response"),
    responseHeaders: headersShape.optional(),
    responseBody: z.string().optional(),
    invokerWorkflowRunId: z.string().optional(),
    invokerWorkflowUrl: z.string().optional(),
    invokerWorkflowCreatedAt: millisecondsShape.optional(),
    workflowRunResponse: z.string().optional(),
    dlqId: z.string().optional().describe("While the run is a dead letter"),
    label: z.string().optional().describe("The first label"),
    labels: z.array(z.string()).optional(),
    flowControlKey: z.string().optional(),
    callerIp: z.string(),
  })
  .meta({ id: "RunEvent" });

export type RunEventJson = JsonOf<typeof runEventSchema>;

/** `place`: sorts the events of a run, and never changes for an event. */
export type Placed<Event> = { readonly place: string; readonly event: Event };

export type Happened<State extends string> = {
  readonly time: number;
  readonly state: State;
  /** Sorts the events of one millisecond. */
  readonly order: readonly number[];
  readonly more?: Partial<Omit<RunEventJson, "state">> & Pick<RunStepJson, "headers">;
};
type RunStateName = (typeof runStates)[number];
type StepEvent = Happened<RunEventJson["state"]>;

type Shown = ReturnType<typeof runJson>;

export function runEvents(reading: RunReading, view: ReadView): readonly Placed<RunEventJson>[] {
  const shown = runJson(reading, view, true);
  const steps = shown.steps.flatMap(({ steps: all, type }) =>
    all.flatMap((step) => stepEvents(reading, step, type)),
  );
  return placedEvents<RunEventJson["state"]>(reading.run, shown, [
    started(shown),
    ...steps,
    ...ended(reading, shown),
  ]);
}

/** Returns events, latest first, each with the fields of its run. */
export function placedEvents<State extends string>(
  run: Run,
  { label, labels, flowControlKey }: Shown,
  happened: readonly Happened<State>[],
) {
  const common = {
    workflowRunId: run.id,
    workflowUrl: run.url,
    workflowCreatedAt: run.createdAt,
    callerIp: run.callerIp,
    ...(label !== undefined && { label, labels }),
    ...(flowControlKey !== undefined && { flowControlKey }),
  };
  return happened
    .map(({ time, state, order, more }) => ({
      place: [time, ...order].map((part) => String(part).padStart(placeDigits, "0")).join(":"),
      event: { time, state, ...common, ...more },
    }))
    .toSorted((a, b) => (a.place > b.place ? -1 : 1));
}

const placeDigits = 16;

export const started = ({
  invoker,
  workflowRunCreatedAt: time,
}: Shown): Happened<RunStateName> => ({
  time,
  state: "RUN_STARTED",
  order: [0, 0, 0],
  ...(invoker && {
    more: {
      invokerWorkflowRunId: invoker.workflowRunId,
      invokerWorkflowUrl: invoker.workflowUrl,
      invokerWorkflowCreatedAt: invoker.workflowRunCreatedAt,
    },
  }),
});

export function ended({ run }: RunReading, shown: Shown): readonly Happened<RunStateName>[] {
  if (run.state.kind === "active") return [];
  const { dlqId, workflowRunResponse, workflowState: state } = shown;
  const last = shown.steps
    .flatMap(({ steps }) => steps)
    .find((step) => step.state === "STEP_FAILED");
  const error = isFailed(run) ? last?.errors?.at(-1) : undefined;
  const more = {
    ...(workflowRunResponse !== undefined && { workflowRunResponse }),
    ...(dlqId !== undefined && { dlqId }),
    ...(error && toldError(error)),
  };
  return [{ time: run.state.endedAt, state, order: [2, 0, 0], more }];
}

type AttemptError = NonNullable<RunStepJson["errors"]>[number];

export const toldError = ({ body, error, headers, status }: AttemptError) => ({
  error,
  responseStatus: status,
  responseHeaders: headers,
  ...(body !== undefined && { responseBody: body }),
});

/** Returns a step's beginning, failed attempts and end. A step that continues the route begins with the end of the step before. */
function stepEvents(
  reading: RunReading,
  shown: RunStepJson,
  type: StepGroup["type"],
): readonly StepEvent[] {
  const { run } = reading;
  const { errors = [], nextDeliveryTime, ...stepInfo } = shown;
  const { state } = stepInfo;
  const step = stepInfo.stepId ?? (type === "next" ? run.reached + 1 : 0);
  const sleeps = stepInfo.sleepFor !== undefined || stepInfo.sleepUntil !== undefined;
  const result = partFor(reading, { role: "result", step });
  const begun = beginningOf(reading, step) ?? (sleeps ? result : undefined);
  const brief = { ...withoutResult(stepInfo), state: "STEP_PROGRESS" as const };
  const failed = errors.map((error, i): StepEvent => {
    const isLast = i === errors.length - 1;
    const isFinal = isLast && state === "STEP_FAILED";
    const isNext = isLast && state === "STEP_RETRY" && nextDeliveryTime !== undefined;
    const now = isFinal ? ("STEP_FAILED" as const) : ("STEP_RETRY" as const);
    const more = { ...toldError(error), ...(isNext && { nextDeliveryTime }) };
    return {
      time: error.time,
      state: now,
      order: [1, step, isFinal ? 2 : 1],
      more: { stepInfo: { ...brief, state: now }, ...more },
    };
  });
  return [
    ...(begun && step > 0
      ? [{ time: begun.at, state: brief.state, order: [1, step, 0], more: { stepInfo: brief } }]
      : []),
    ...failed,
    // A sleep in sequence has its result from its beginning.
    ...endOfStep(run, stepInfo, step, sleeps ? (result?.sent?.notBefore ?? 0) : 0),
  ];
}

/** Returns the first part of a step: its plan, or the part that it began by itself. */
const beginningOf = (reading: RunReading, step: number) =>
  beginningRoles.flatMap((role) => partFor(reading, { role, step }) ?? [])[0];
const beginningRoles = [
  "plan",
  "call",
  "wait",
  "invocation",
] as const satisfies readonly PartKey["role"][];

function withoutResult({
  out: _out,
  createdAt: _createdAt,
  waitTimeout: _waitTimeout,
  callResponseStatus: _status,
  callResponseHeaders: _headers,
  callResponseBody: _body,
  ...rest
}: RunStepJson): RunStepJson {
  return rest;
}

function endOfStep(
  run: Run,
  stepInfo: RunStepJson,
  step: number,
  notBefore: number,
): readonly StepEvent[] {
  const { createdAt, state } = stepInfo;
  if (state === "STEP_SUCCESS" && createdAt !== undefined)
    return [
      {
        time: Math.max(createdAt, notBefore),
        ...{ state, order: [1, step, 2], more: { stepInfo } },
      },
    ];
  if (state === "STEP_CANCELED" && run.state.kind !== "active")
    return [{ time: run.state.endedAt, state, order: [1, step, 2], more: { stepInfo } }];
  return [];
}
