/**
 * A run as its readers see it: its head, its steps in the groups in which they were published, and the work under way
 * (docs/workflows). Redacted values are shown as their hashes.
 */
import { type Run, type RunState, storyOf } from "@posthaste/domain";
import { type ReadView } from "../representations/body.ts";
import { failureJson, letterJson } from "./run-failure.ts";
import { type runStates, type RunStepJson, textIn } from "./run-step.ts";
import { initView, partFor, type RunReading, stepView } from "./step-view.ts";

export type StepGroup = {
  readonly type: "sequential" | "parallel" | "next";
  readonly steps: readonly RunStepJson[];
};

const stateNames = {
  active: "RUN_STARTED",
  succeeded: "RUN_SUCCESS",
  canceled: "RUN_CANCELED",
  failed: "RUN_FAILED",
} as const satisfies Record<RunState["kind"], (typeof runStates)[number]>;

export function runJson(reading: RunReading, view: ReadView, withCaller: boolean) {
  const response = textIn(partFor(reading, { role: "returned" })?.body);
  return {
    ...runHeadJson(reading.run, withCaller),
    steps: stepGroups(reading, view),
    ...(response !== undefined && { workflowRunResponse: response }),
    ...failureJson(reading, view),
  };
}

/** Returns the fields that the head alone gives. */
export function runHeadJson(run: Run, withCaller: boolean) {
  const { createdAt, id, invoker, plan, state, url } = run;
  const [label] = plan.policy.labels;
  return {
    workflowRunId: id,
    workflowUrl: url,
    workflowState: stateNames[state.kind],
    workflowRunCreatedAt: createdAt,
    ...(state.kind !== "active" && { workflowRunCompletedAt: state.endedAt }),
    ...(withCaller && { workflowRunCallerIp: run.callerIp }),
    steps: [],
    ...(invoker && {
      invoker: {
        workflowRunId: invoker.id,
        workflowUrl: invoker.url,
        workflowRunCreatedAt: invoker.createdAt,
      },
    }),
    ...letterJson(run),
    ...(label !== undefined && { label, labels: plan.policy.labels }),
    ...(plan.policy.flow && { flowControlKey: plan.policy.flow.key }),
  };
}

/** Returns the groups of the run's story after its start. */
export function stepGroups(reading: RunReading, view: ReadView): readonly StepGroup[] {
  const { progress, run } = reading;
  const groups = storyOf(run, { progress, sleepsUntil: (step) => sleepsUntil(reading, step) });
  return [
    { type: "sequential", steps: [initView(reading, view)] } as const,
    ...groups.map(({ steps, type }) => ({
      type,
      steps: steps.flatMap((step) => stepView(reading, step, view, type === "parallel")),
    })),
  ].filter(({ steps }) => steps.length > 0);
}

function sleepsUntil(reading: RunReading, step: number): number | undefined {
  const { sent, step: fields } = partFor(reading, { role: "result", step }) ?? {};
  const isSleep = fields?.sleepFor !== undefined || fields?.sleepUntil !== undefined;
  return isSleep ? (sent?.notBefore ?? 0) : undefined;
}
