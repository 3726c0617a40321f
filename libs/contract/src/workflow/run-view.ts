/**
 * A run as its readers see it: its head, its steps in the groups in which they were published, and what is under way
 * (docs/workflows). Redacted values are shown as their hashes.
 */
import {
  type DeliveryKey,
  deliveryOf,
  isFailed,
  isFinished,
  type PartName,
  partOf,
  type Pending,
  type Progress,
  type Run,
  runMessageId,
  type RunState,
  toldPart,
} from "@posthaste/domain";
import { type ReadView } from "../representations/body.ts";
import { readableHeaders } from "../representations/hidden.ts";
import { errorsOf, failureJson, letterJson } from "./run-failure.ts";
import { type runStates, type RunStepJson, textIn } from "./run-step.ts";
import { type ShownAttempt, type ShownPart } from "./shown-part.ts";

/** A run as it is read from the store. A missing part has been swept. */
export type RunReading = {
  readonly run: Run;
  readonly parts: ReadonlyMap<PartName, ShownPart>;
  /** The records that exist of `deliveriesShown`. */
  readonly progress: ReadonlyMap<PartName, Progress>;
  /** The latest attempts, in the order of time. */
  readonly attempts: readonly ShownAttempt[];
};

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

/** Returns the deliveries that tell how far a run is: open ones, or the one that tells of its failure. */
export function deliveriesShown(run: Run): readonly PartName[] {
  if (run.state.kind !== "active") return tellingOf(run);
  const open = openPlans(run).map((step) => partOf({ role: "plan", step }));
  const calls = run.state.pending.flatMap((pending) =>
    pending.kind === "call" ? partOf(callKey(pending)) : [],
  );
  return open.length + run.state.pending.length > 0 ? [...open, ...calls] : [lastEntry(run)];
}

const tellingOf = (run: Run): readonly PartName[] => {
  const told = isFailed(run) ? run.state.failure.function : undefined;
  return told?.state === "running" ? [toldPart(told.round)] : [];
};

/** Returns the parts of a call: the call itself, and the message that tells of its answer. */
const callParts = (step: number): readonly PartName[] => [
  partOf({ role: "call", step }),
  partOf({ role: "answer", step }),
];

const callKey = ({ isAnswered, step }: Pending & { readonly kind: "call" }): DeliveryKey => ({
  role: isAnswered ? "answer" : "call",
  step,
});

export function runJson(reading: RunReading, view: ReadView, withCaller: boolean) {
  const { parts, run } = reading;
  const response = textIn(parts.get("e")?.body);
  return {
    ...runHeadJson(run, withCaller),
    steps: stepGroups(reading, view),
    ...(response !== undefined && { workflowRunResponse: response }),
    ...failureJson(reading, view),
  };
}

/** Returns what the head alone says. */
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

/** Returns the groups in the order of the history; a result is shown where its step was planned. */
export function stepGroups(reading: RunReading, view: ReadView): readonly StepGroup[] {
  const { run } = reading;
  const planned = plannedSteps(run);
  const groups: StepGroup[] = [initGroup(reading, view)];
  // The delivery by which a step without a plan was done.
  let before: PartName = "start";
  for (const { role, from, to } of run.history.spans) {
    const steps = range(from, to);
    if (role === "plan")
      groups.push({
        type: "parallel",
        steps: steps.flatMap((step) => memberOf(reading, step, view)),
      });
    else
      for (const step of steps) {
        if (!planned.has(step))
          groups.push({ type: "sequential", steps: resultOf(reading, step, before, view) });
        before = partOf({ role, step });
      }
  }
  groups.push(...waitingGroups(reading, planned, view), ...nextGroup(reading, view));
  return groups.filter(({ steps }) => steps.length > 0);
}

function initGroup({ parts, run }: RunReading, view: ReadView): StepGroup {
  const { policy } = run.plan;
  const out = textIn(parts.get("start")?.body);
  const init: RunStepJson = {
    stepName: "init",
    stepType: "Initial",
    callType: "step",
    concurrent: 1,
    messageId: run.root,
    createdAt: run.createdAt,
    headers: readableHeaders(run.plan.headers, policy.redaction, view.sha256),
    ...(out !== undefined && { out }),
    retries: policy.retriesMax,
    ...(policy.retryDelay !== undefined && { retryDelay: policy.retryDelay }),
    state: "STEP_SUCCESS",
  };
  return { type: "sequential", steps: [init] };
}

/** Returns the result of a group's member, or its plan while there is no result. */
function memberOf(reading: RunReading, step: number, view: ReadView): readonly RunStepJson[] {
  const key: DeliveryKey = { role: "plan", step };
  if (hasResult(reading.run, step)) return resultOf(reading, step, partOf(key), view);
  const part = reading.parts.get(partOf(key));
  if (!part) return [];
  const { concurrent, stepName, ...fields } = part.step ?? {};
  const ofPlan = {
    ...(concurrent !== undefined && { concurrent }),
    ...(stepName !== undefined && { stepName }),
    ...{ stepId: step, targetStep: step, createdAt: part.at },
    headers: headersSent(reading, part, view),
  };
  const pending = reading.run.state.pending.find((each) => each.step === step);
  if (pending && isLogged(pending)) return resultOf(reading, step, partOf(key), view);
  const now = pending ? pendingStep(reading, pending, view) : delivery(reading, key, view);
  return [{ ...fields, ...now, ...ofPlan }];
}

/** `by`: the delivery by which the step was done. */
function resultOf(
  reading: RunReading,
  step: number,
  by: PartName,
  view: ReadView,
): readonly RunStepJson[] {
  const { run } = reading;
  const name = partOf({ role: "result", step });
  const part = reading.parts.get(name);
  if (!part) return [];
  const { retriesMax, retryDelay } = run.plan.policy;
  return [
    {
      ...callFields(reading, step, view),
      ...waitFields(reading, step),
      ...part.step,
      ...invokedBy(reading, step),
      stepId: step,
      callType: "step",
      messageId: runMessageId(run.root, name),
      createdAt: part.at,
      headers: headersSent(reading, part, view),
      retries: retriesMax,
      ...(retryDelay !== undefined && { retryDelay }),
      state: "STEP_SUCCESS",
      ...asleep(reading, name),
      ...errorsOf(reading, [by, ...callParts(step)], view),
    },
  ];
}

/** Returns the headers that the step's own publish forwards; those of the run are shown at its start. */
export const headersSent = ({ run }: RunReading, { sent }: ShownPart, { sha256 }: ReadView) =>
  readableHeaders(sent?.headers ?? usualHeaders, run.plan.policy.redaction, sha256);
const usualHeaders = [["Content-Type", "application/json"]] as const;

/** A sleep in sequence is a result from its beginning, and is delivered when its time has come. */
function asleep({ parts, progress, run }: RunReading, name: PartName): RunStepJson {
  const { sent, step } = parts.get(name) ?? {};
  if (step?.sleepFor === undefined && step?.sleepUntil === undefined) return {};
  if (run.state.kind !== "active") {
    const isCutShort = sent !== undefined && sent.notBefore > run.state.endedAt;
    return isCutShort ? { state: "STEP_CANCELED" } : {};
  }
  const standing = progress.get(name);
  if (standing?.state.kind !== "held" || standing.retried > 0) return {};
  return { state: "STEP_PROGRESS", nextDeliveryTime: standing.state.dueAt };
}

export function waitFields({ parts }: RunReading, step: number): RunStepJson {
  const { at = 0, deadline } = parts.get(`w${step}`) ?? {};
  if (deadline === undefined) return {};
  return {
    waitTimeout: false,
    waitTimeoutDeadline: deadline,
    waitTimeoutDuration: `${(deadline - at) / 1_000}s`,
  };
}

/**
 * Returns calls, waits and invocations in progress, or cut short by the end of the run: each is a group of its own unless it
 * was planned in one.
 */
function waitingGroups(
  reading: RunReading,
  planned: ReadonlySet<number>,
  view: ReadView,
): readonly StepGroup[] {
  const { run } = reading;
  return run.state.pending
    .filter(({ step }) => !planned.has(step))
    .map((pending) => ({
      type: "sequential",
      steps: isLogged(pending)
        ? resultOf(reading, pending.step, invocationPart(pending.step), view)
        : [pendingStep(reading, pending, view)],
    }));
}

/** Reports whether an invoked run has ended after this run: its end is then in this run's log, and in no history. */
const isLogged = (pending: Pending): boolean => pending.kind === "invoke" && !!pending.isLogged;

function pendingStep(reading: RunReading, pending: Pending, view: ReadView): RunStepJson {
  const { parts, run } = reading;
  const { kind, step } = pending;
  const common = { stepId: step, concurrent: 1 } as const;
  if (kind === "call") {
    const placed = parts.get(partOf({ role: "call", step }));
    return {
      ...callFields(reading, step, view),
      ...common,
      stepType: "Call",
      callType: pending.isAnswered ? "fromCallback" : "toCallback",
      ...(placed && { createdAt: placed.at }),
      ...delivery(reading, callKey(pending), view),
    };
  }
  const name = kind === "wait" ? `w${step}` : invocationPart(step);
  const part = parts.get(name);
  const { waitTimeout: _, ...wait } = waitFields(reading, step);
  return {
    ...part?.step,
    ...common,
    state: stepState(run, name, undefined),
    ...(part && { createdAt: part.at }),
    ...(kind === "wait"
      ? { ...wait, waitEventId: pending.event, waitTimeoutDeadline: pending.deadline }
      : { ...invokedBy(reading, step), invokedWorkflowRunId: pending.childId }),
  };
}

const invocationPart = (step: number): PartName => `v${step}`;

export const invokedBy = ({ parts }: RunReading, step: number): RunStepJson => ({
  ...parts.get(invocationPart(step))?.invoked,
  ...parts.get(`i${step}`)?.invoked,
});

/** Returns the delivery that goes on with the route, or has failed to: the last entry where nothing else is open. */
function nextGroup(reading: RunReading, view: ReadView): readonly StepGroup[] {
  const { run } = reading;
  const key = nextKey(run);
  // A sleep is shown at its step.
  if (!key || asleep(reading, partOf(key)).state) return [];
  const step = delivery(reading, key, view);
  const stepName = failedStep(step.errors?.at(-1));
  return [{ type: "next", steps: [{ ...step, ...(stepName !== undefined && { stepName }) }] }];
}

/** Returns the step that has thrown, as the endpoint's client names it. */
const failedStep = (error: NonNullable<RunStepJson["errors"]>[number] | undefined) =>
  Object.entries(error?.headers ?? {}).find(([name]) => failedStepHeader.test(name))?.[1][0];
const failedStepHeader = /^(service|upstash)-error-step-name$/i;

function nextKey(run: Run): DeliveryKey | undefined {
  const { state } = run;
  if (state.kind === "succeeded") return undefined;
  if (state.kind === "failed") {
    const failed = deliveryOf(state.failure.at);
    // These are shown at their step.
    const isShown = failed?.role === "plan" || failed?.role === "answer";
    return isShown ? undefined : failed;
  }
  const waits = openPlans(run).length + state.pending.length;
  return waits === 0 ? deliveryOf(lastEntry(run)) : undefined;
}

/** Returns how far a delivery without a result is. */
function delivery(reading: RunReading, key: DeliveryKey, view: ReadView): RunStepJson {
  const { progress, run } = reading;
  const { policy } = run.plan;
  const name = partOf(key);
  const standing = progress.get(name);
  const isHeld = standing?.state.kind === "held" ? standing.state.dueAt : undefined;
  return {
    messageId: runMessageId(run.root, name),
    retries: standing?.retriesMax ?? policy.retriesMax,
    ...(policy.retryDelay !== undefined && { retryDelay: policy.retryDelay }),
    state: stepState(run, name, standing),
    ...(isHeld !== undefined && { nextDeliveryTime: isHeld }),
    ...errorsOf(reading, key.role === "answer" ? callParts(key.step) : [name], view),
  };
}

function stepState(
  { state }: Run,
  name: PartName,
  standing: Progress | undefined,
): NonNullable<RunStepJson["state"]> {
  if (state.kind === "failed" && state.failure.at === name) return "STEP_FAILED";
  if (state.kind !== "active") return "STEP_CANCELED";
  const isRetried = standing !== undefined && !isFinished(standing.state) && standing.retried > 0;
  return isRetried ? "STEP_RETRY" : "STEP_PROGRESS";
}

/** Returns the fields of a call to a third party: its request and its answer. */
export function callFields({ parts, run }: RunReading, step: number, view: ReadView): RunStepJson {
  const call = parts.get(partOf({ role: "call", step }));
  if (!call?.sent) return {};
  const { headers, method, policy, url } = call.sent;
  const { redaction } = run.plan.policy;
  const body = textIn(call.body);
  const [, stepName] = policy.callback?.headers.find(([name]) => stepNameHeader.test(name)) ?? [];
  return {
    ...(stepName !== undefined && { stepName }),
    callUrl: url,
    callMethod: method,
    callHeaders: readableHeaders(headers, redaction, view.sha256),
    ...(body !== undefined && { callBody: body }),
    ...callAnswer(run, parts.get(partOf({ role: "answer", step }))?.answer, view),
  };
}

const stepNameHeader = /^(service|upstash)-workflow-stepname$/i;

/** Returns the answer as the endpoint is told of it. */
function callAnswer(run: Run, answer: ShownPart["answer"], view: ReadView): RunStepJson {
  if (!answer) return {};
  const body = textIn(answer.body);
  return {
    callResponseStatus: answer.status ?? 0,
    callResponseHeaders: readableHeaders(answer.headers, run.plan.policy.redaction, view.sha256),
    ...(body !== undefined && { callResponseBody: body }),
  };
}

const hasResult = ({ history }: Run, step: number): boolean =>
  history.spans.some(({ from, role, to }) => role === "result" && from <= step && step <= to);

const plannedSteps = ({ history }: Run): ReadonlySet<number> =>
  new Set(history.spans.flatMap(({ from, role, to }) => (role === "plan" ? range(from, to) : [])));

/** Returns steps that are planned, have no result, and wait for nothing of their own. */
function openPlans(run: Run): readonly number[] {
  const pending = new Set(run.state.pending.map(stepOf));
  return [...plannedSteps(run)].filter((step) => !pending.has(step) && !hasResult(run, step));
}

const stepOf = ({ step }: Pending): number => step;

function lastEntry({ adoption, history }: Run): PartName {
  const last = history.spans.at(-1);
  if (last) return partOf({ role: last.role, step: last.to });
  return partOf({ role: adoption === "done" ? "adopted" : "start" });
}

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);
