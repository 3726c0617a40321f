/** Prints a run as a tree: steps below the run, members below their group, failures below their step. */
import { type Run } from "@posthaste/client";
import { type Reason } from "./message-story.ts";
import { shortened, timeOf } from "./output.ts";

type Group = Run["steps"][number];
type Step = Group["steps"][number];
type AttemptError = NonNullable<Step["errors"]>[number];
type Node = { readonly text: string; readonly below: readonly Node[] };

/** Returns the last error of a run's steps: why the run failed or waits for a retry. */
export function reasonOf({ failureFunction, steps, workflowState }: Run): Reason {
  if (workflowState === "RUN_SUCCESS" || workflowState === "RUN_CANCELED") return {};
  const last = steps
    .flatMap((group) => group.steps)
    .filter(({ state }) => state === "STEP_FAILED" || state === "STEP_RETRY")
    .flatMap(({ errors = [] }) => errors)
    .reduce<AttemptError | undefined>((a, b) => (a && a.time > b.time ? a : b), undefined);
  if (last) {
    const { body, error, status } = last;
    const said = error === String(status) ? {} : { error };
    return { ...said, responseStatus: status, ...(body !== undefined && { responseBody: body }) };
  }
  if (!failureFunction) return {};
  const { failResponse, failStatus } = failureFunction;
  return {
    responseStatus: failStatus,
    ...(failResponse !== undefined && { responseBody: failResponse }),
  };
}

const linesOfReason = ({ error, responseBody, responseStatus }: Reason): readonly string[] => [
  ...(error === undefined ? [] : [`error   ${shortened(error)}`]),
  ...(responseStatus === undefined || responseStatus === 0 ? [] : [`status  ${responseStatus}`]),
  ...(responseBody === undefined || responseBody === error
    ? []
    : [`answer  ${shortened(responseBody)}`]),
];

export function treeOf(run: Run): readonly string[] {
  const { steps, workflowRunCreatedAt, workflowRunId, workflowRunResponse, workflowState } = run;
  const head = `${workflowRunId}  ${stateOf(workflowState)}  ${timeOf(workflowRunCreatedAt)}`;
  const end = workflowRunResponse === undefined ? [] : [leaf(`returns ${workflowRunResponse}`)];
  return [
    head,
    ...linesOfReason(reasonOf(run)),
    run.workflowUrl,
    ...drawn([...steps.flatMap(nodesOf), ...end], ""),
  ];
}

const leaf = (text: string): Node => ({ text, below: [] });

function nodesOf({ steps, type }: Group): readonly Node[] {
  const nodes = steps.map(nodeOf);
  return type === "parallel" ? [{ text: "in parallel", below: nodes }] : nodes;
}

function nodeOf(step: Step): Node {
  const { errors = [], nextDeliveryTime, out, state, stepName, stepType } = step;
  const said = [stepName ?? "the next delivery", stepType, state && stateOf(state)].filter(Boolean);
  const below = [
    ...errors.map((error) => leaf(`${timeOf(error.time)} ${error.error}`)),
    ...(nextDeliveryTime === undefined ? [] : [leaf(`next at ${timeOf(nextDeliveryTime)}`)]),
    ...(step.waitEventId === undefined ? [] : [leaf(`for ${step.waitEventId}`)]),
    ...(out === undefined || out === "" ? [] : [leaf(out)]),
  ];
  return { text: said.join("  "), below };
}

const stateOf = (state: string): string => state.replace(/^(RUN|STEP)_/, "").toLowerCase();

function drawn(nodes: readonly Node[], indent: string): readonly string[] {
  return nodes.flatMap(({ below, text }, at) => {
    const isLast = at === nodes.length - 1;
    const own = `${indent}${isLast ? "└─" : "├─"} ${text}`;
    return [own, ...drawn(below, `${indent}${isLast ? "   " : "│  "}`)];
  });
}
