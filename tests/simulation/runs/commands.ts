/** The publishes of a workflow client for a program: its start, and the requests of its steps. */
import {
  type Policy,
  type PublishCommand,
  type RunId,
  runId,
  type RunPublish,
  type StepKey,
} from "@posthaste/domain";
import { type WaitCommand } from "@posthaste/engine";
import { aCallbackPlan, aCommand, aPolicy } from "@posthaste/testing";
import { entryBody, type Program, type Step } from "./program.ts";

export const timeoutMs = 15_000;

export const policyOf = ({ index }: Program): Policy =>
  aPolicy({
    timeoutMs,
    // One in three is asked once.
    retriesMax: index % 3 === 1 ? 0 : 3,
    retryDelay: "500",
    failureCallback: aCallbackPlan({
      url: `https://${index % 3 === 0 ? "flaky" : "good"}-8.example/failed`,
      timeoutMs,
      retryDelay: "500",
    }),
    ...(index % 4 === 1 && { redaction: { body: true, headers: [] } }),
    ...(index % 4 === 0 && {
      flow: { key: `runs-${index}`, limits: { parallelism: 2, periodMs: 1_000 } },
    }),
  });

/** Reports whether the run's clients demand that a workflow answers its start. */
const detects = ({ index }: Program): boolean => index % 2 === 0;

/** Reports whether a host under maintenance answers in the program's place now and then. */
export const hasPages = (program: Program): boolean =>
  program.url.includes("//workflow-flaky-") && detects(program);

/** Reports whether the run's endpoint marks its answers; a hand-written one does not. */
export const marksAnswers = ({ index }: Program): boolean => index % 4 !== 3;

export const phaseOf = ({ index }: Program): "probes" | undefined =>
  index % 4 === 2 ? "probes" : undefined;

export const startOf = (
  program: Program,
  id: RunId,
  phase?: "probes" | "adopts",
): PublishCommand & { readonly run: RunPublish & { readonly kind: "start" } } => ({
  ...deliveredTo(program),
  body: new TextEncoder().encode(JSON.stringify({ program: program.index })),
  run: {
    kind: "start",
    id,
    features: detects(program) ? ["WF_TriggerOnConfig", "WF_DetectTrigger"] : [],
    headers: [],
    ...(phase && { phase }),
  },
});

/** The use of an id that a request names. */
type Use = { readonly id: RunId; readonly createdAt: number };

export type Said = { readonly key: StepKey; readonly out: string; readonly delayMs?: number };

export const entryOf = (
  program: Program,
  { createdAt, id }: Use,
  { delayMs, key, out }: Said,
): PublishCommand => ({
  ...deliveredTo(program),
  body: entryBody(key.step, key.role === "plan", out),
  run: { kind: "entry", id, createdAt, key },
  ...(delayMs !== undefined && { postponement: { kind: "delay", delayMs } }),
});

/** The answer of the call comes to the endpoint with the number of the step. */
export const callOf = (
  program: Program,
  { createdAt, id }: Use,
  step: number,
  { retriesMax, url }: Step & { kind: "call" },
): PublishCommand => {
  const callback = aCallbackPlan({
    url: program.url,
    headers: [[stepHeader, String(step)]],
    timeoutMs,
    retryDelay: "500",
  });
  return {
    ...aCommand({ tenant: program.tenant, destination: { kind: "url", url } }),
    policy: aPolicy({ retriesMax, retryDelay: "700", timeoutMs, callback }),
    run: { kind: "call", id, createdAt, step },
  };
};

export const stepHeader = "Step";

export const waitOf = (
  program: Program,
  use: Use,
  step: number,
  wait: Step & { kind: "wait" },
): WaitCommand => ({
  command: entryOf(program, use, resultOf(step)),
  event: wait.event,
  timeoutMs: wait.timeoutMs,
  step: { stepId: step },
  waiter: { url: program.url, headers: {} },
});

export const invocationOf = (
  program: Program,
  use: Use,
  step: number,
  child: Program,
  childId: string,
): PublishCommand => {
  const started = startOf(child, runId(childId));
  return {
    ...started,
    run: {
      kind: "invoke",
      child: started.run,
      answer: entryOf(program, use, resultOf(step)),
      step: { stepId: step },
    },
  };
};

const resultOf = (step: number): Said => ({ key: { role: "result", step }, out: "" });

const deliveredTo = (program: Program): PublishCommand =>
  aCommand({
    tenant: program.tenant,
    destination: { kind: "url", url: program.url },
    headers: [["Content-Type", "application/json"]],
    policy: policyOf(program),
  });
