/** Returns one step of a run's story as readers of the run see it. */
import {
  type EntryDelivery,
  type PartKey,
  partOf,
  type PartName,
  type Progress,
  type Run,
  runMessageId,
  type StepStatus,
  type StepStory,
} from "@posthaste/domain";
import { type ReadView } from "../representations/body.ts";
import { readableHeaders } from "../representations/hidden.ts";
import { errorsOf } from "./run-failure.ts";
import { type RunStepJson, textIn } from "./run-step.ts";
import { type ShownAttempt, type ShownPart } from "./shown-part.ts";

/** A run as it is read from the store. A missing part has been swept. */
export type RunReading = {
  readonly run: Run;
  readonly parts: ReadonlyMap<PartName, ShownPart>;
  /** The existing records of `deliveriesShown`. */
  readonly progress: ReadonlyMap<PartName, Progress>;
  /** The latest attempts, in the order of time. */
  readonly attempts: readonly ShownAttempt[];
};

const states = {
  open: "STEP_PROGRESS",
  retried: "STEP_RETRY",
  failed: "STEP_FAILED",
  canceled: "STEP_CANCELED",
} as const satisfies Record<StepStatus, RunStepJson["state"]>;

export const partFor = ({ parts }: Pick<RunReading, "parts">, key: PartKey) =>
  parts.get(partOf(key));

/** Returns nothing for a step whose part has been swept. */
export function stepView(
  reading: RunReading,
  story: StepStory,
  view: ReadView,
  isOfGroup: boolean,
): readonly RunStepJson[] {
  if (story.kind === "done" || story.kind === "sleeping") return resultView(reading, story, view);
  if (story.kind === "running") return [runningView(reading, story, view)];
  const { step } = story;
  const now = waitingView(reading, story, view);
  if (!isOfGroup) return [now];
  const part = partFor(reading, { role: "plan", step });
  if (!part) return [];
  const { concurrent, stepName, ...fields } = part.step ?? {};
  return [
    {
      ...fields,
      ...now,
      ...(concurrent !== undefined && { concurrent }),
      ...(stepName !== undefined && { stepName }),
      ...{ stepId: step, targetStep: step, createdAt: part.at },
      headers: headersSent(reading.run, part, view),
    },
  ];
}

export function initView({ parts, run }: RunReading, view: ReadView): RunStepJson {
  const { policy } = run.plan;
  const out = textIn(partFor({ parts }, { role: "start" })?.body);
  return {
    stepName: "init",
    stepType: "Initial",
    callType: "step",
    concurrent: 1,
    messageId: run.root,
    createdAt: run.createdAt,
    headers: readableHeaders(run.plan.headers, policy.redaction, view.sha256),
    ...(out !== undefined && { out }),
    ...retriesView(run),
    state: "STEP_SUCCESS",
  };
}

function resultView(
  reading: RunReading,
  story: StepStory & { readonly kind: "done" | "sleeping" },
  view: ReadView,
): readonly RunStepJson[] {
  const { run } = reading;
  const { by, step } = story;
  const name = partOf({ role: "result", step });
  const part = reading.parts.get(name);
  if (!part) return [];
  const until = story.kind === "sleeping" ? story.until : undefined;
  return [
    {
      ...callView(reading, step, view),
      ...waitView(reading, step),
      ...part.step,
      ...invokedView(reading, step),
      stepId: step,
      callType: "step",
      messageId: runMessageId(run.root, name),
      createdAt: part.at,
      headers: headersSent(run, part, view),
      ...retriesView(run),
      state: story.kind === "done" ? "STEP_SUCCESS" : states[story.standing],
      ...(until !== undefined && { nextDeliveryTime: until }),
      ...errorsOf(reading, [...(by ? [partOf(by)] : []), ...callParts(step)], view),
    },
  ];
}

function runningView(
  reading: RunReading,
  story: StepStory & { readonly kind: "running" },
  view: ReadView,
): RunStepJson {
  const step = deliveryView(reading, story, view);
  const stepName = failedStep(step.errors?.at(-1));
  return { ...step, ...(stepName !== undefined && { stepName }) };
}

/** Returns the step that has thrown, as the endpoint's client names it. */
const failedStep = (error: NonNullable<RunStepJson["errors"]>[number] | undefined) =>
  Object.entries(error?.headers ?? {}).find(([name]) => failedStepHeader.test(name))?.[1][0];
const failedStepHeader = /^(service|upstash)-error-step-name$/i;

function waitingView(
  reading: RunReading,
  story: StepStory & { readonly kind: "planned" | "called" | "waiting" | "invoked" },
  view: ReadView,
): RunStepJson {
  const { step } = story;
  const common = { stepId: step, concurrent: 1 } as const;
  switch (story.kind) {
    case "planned":
      return deliveryView(reading, story, view);
    case "called": {
      const placed = partFor(reading, { role: "call", step });
      return {
        ...callView(reading, step, view),
        ...common,
        stepType: "Call",
        callType: story.by.role === "answer" ? "fromCallback" : "toCallback",
        ...(placed && { createdAt: placed.at }),
        ...deliveryView(reading, story, view),
      };
    }
    case "waiting": {
      const { deadline, event } = story.wait;
      const { waitTimeout: _, ...wait } = waitView(reading, step);
      return {
        ...begun("wait"),
        ...{ ...wait, waitEventId: event, waitTimeoutDeadline: deadline },
      };
    }
    case "invoked":
      return {
        ...begun("invocation"),
        ...invokedView(reading, step),
        invokedWorkflowRunId: story.invocation.childId,
      };
  }

  function begun(role: "wait" | "invocation"): RunStepJson {
    const part = partFor(reading, { role, step });
    return {
      ...part?.step,
      ...common,
      ...("standing" in story && { state: states[story.standing] }),
      ...(part && { createdAt: part.at }),
    };
  }
}

/** Returns the progress of a delivery without a result. */
function deliveryView(
  reading: RunReading,
  { by, progress, standing }: StepStory & { readonly kind: "planned" | "called" | "running" },
  view: ReadView,
): RunStepJson {
  const { run } = reading;
  const name = partOf(by);
  return {
    messageId: runMessageId(run.root, name),
    ...retriesView(run, progress?.retriesMax),
    state: states[standing],
    ...(progress?.state.kind === "held" && { nextDeliveryTime: progress.state.dueAt }),
    ...errorsOf(reading, by.role === "answer" ? callParts(by.step) : [name], view),
  };
}

const retriesView = ({ plan: { policy } }: Run, retries = policy.retriesMax) => ({
  retries,
  ...(policy.retryDelay !== undefined && { retryDelay: policy.retryDelay }),
});

/** Returns the parts of a call: the call itself, and the message that reports its answer. */
const callParts = (step: number): readonly PartName[] => [
  partOf({ role: "call", step }),
  partOf({ role: "answer", step }),
];

/** Returns the headers that the step's own publish forwards; those of the run are shown at its start. */
export const headersSent = (
  { plan }: Run,
  { sent }: { readonly sent?: EntryDelivery },
  { sha256 }: ReadView,
) => readableHeaders(sent?.headers ?? usualHeaders, plan.policy.redaction, sha256);
const usualHeaders = [["Content-Type", "application/json"]] as const;

export function waitView(reading: RunReading, step: number): RunStepJson {
  const { at = 0, deadline } = partFor(reading, { role: "wait", step }) ?? {};
  if (deadline === undefined) return {};
  return {
    waitTimeout: false,
    waitTimeoutDeadline: deadline,
    waitTimeoutDuration: `${(deadline - at) / 1_000}s`,
  };
}

export const invokedView = (reading: RunReading, step: number): RunStepJson => ({
  ...partFor(reading, { role: "invocation", step })?.invoked,
  ...partFor(reading, { role: "invoked", step })?.invoked,
});

/** Returns the fields of a call to a third party: its request and its answer. */
export function callView(reading: RunReading, step: number, view: ReadView): RunStepJson {
  const call = partFor(reading, { role: "call", step });
  if (!call?.sent) return {};
  const { headers, method, policy, url } = call.sent;
  const { redaction } = reading.run.plan.policy;
  const body = textIn(call.body);
  const [, stepName] = policy.callback?.headers.find(([name]) => stepNameHeader.test(name)) ?? [];
  const answer = partFor(reading, { role: "answer", step })?.answer;
  return {
    ...(stepName !== undefined && { stepName }),
    callUrl: url,
    callMethod: method,
    callHeaders: readableHeaders(headers, redaction, view.sha256),
    ...(body !== undefined && { callBody: body }),
    ...(answer && answerView(reading.run, answer, view)),
  };
}

const stepNameHeader = /^(service|upstash)-workflow-stepname$/i;

/** Returns the answer as the endpoint receives it. */
function answerView(
  run: Run,
  { body: said, headers, status = 0 }: NonNullable<ShownPart["answer"]>,
  view: ReadView,
): RunStepJson {
  const body = textIn(said);
  return {
    callResponseStatus: status,
    callResponseHeaders: readableHeaders(headers, run.plan.policy.redaction, view.sha256),
    ...(body !== undefined && { callResponseBody: body }),
  };
}
