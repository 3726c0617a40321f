import { type LogEntry, type Run, type RunStep } from "@posthaste/client/api";
import { State, type Tone } from "../parts/text.tsx";

type Words = readonly [tone: Tone, words: string];

export const messageStates = {
  CREATED: ["calm", "waits"],
  ACTIVE: ["busy", "under way"],
  RETRY: ["busy", "waits for a retry"],
  ERROR: ["bad", "attempt failed"],
  DELIVERED: ["good", "delivered"],
  FAILED: ["bad", "failed"],
  CANCEL_REQUESTED: ["calm", "being cancelled"],
  CANCELED: ["calm", "cancelled"],
} as const satisfies Readonly<Record<LogEntry["state"], Words>>;

export const runStates = {
  RUN_STARTED: ["busy", "running"],
  RUN_SUCCESS: ["good", "succeeded"],
  RUN_FAILED: ["bad", "failed"],
  RUN_CANCELED: ["calm", "cancelled"],
} as const satisfies Readonly<Record<Run["workflowState"], Words>>;

export const stepStates = {
  STEP_PROGRESS: ["busy", "under way"],
  STEP_RETRY: ["busy", "waits for a retry"],
  STEP_SUCCESS: ["good", "done"],
  STEP_FAILED: ["bad", "failed"],
  STEP_CANCELED: ["calm", "cancelled"],
} as const satisfies Readonly<Record<NonNullable<RunStep["state"]>, Words>>;

export function MessageState({ state }: { readonly state: LogEntry["state"] }) {
  const [tone, words] = messageStates[state];
  return <State tone={tone}>{words}</State>;
}

export function RunState({ state }: { readonly state: Run["workflowState"] }) {
  const [tone, words] = runStates[state];
  return <State tone={tone}>{words}</State>;
}

const orderOfTones: readonly Tone[] = ["bad", "busy", "calm", "good"];

/** Returns the choices of a filter, failures first. */
export const choicesOf = (
  states: Readonly<Record<string, Words>>,
): readonly (readonly [value: string, label: string])[] =>
  Object.entries(states)
    .toSorted(([, [a]], [, [b]]) => orderOfTones.indexOf(a) - orderOfTones.indexOf(b))
    .map(([value, [, words]]) => [value, words]);
