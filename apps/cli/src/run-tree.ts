/** A run as a tree: its steps below it, the members of a group below their group, what failed below its step. */
import { type Run } from "@posthaste/client";
import { timeOf } from "./output.ts";

type Group = Run["steps"][number];
type Step = Group["steps"][number];
type Node = { readonly text: string; readonly below: readonly Node[] };

export function treeOf(run: Run): readonly string[] {
  const { steps, workflowRunCreatedAt, workflowRunId, workflowRunResponse, workflowState } = run;
  const head = `${workflowRunId}  ${stateOf(workflowState)}  ${timeOf(workflowRunCreatedAt)}`;
  const end = workflowRunResponse === undefined ? [] : [leaf(`returns ${workflowRunResponse}`)];
  return [head, run.workflowUrl, ...drawn([...steps.flatMap(nodesOf), ...end], "")];
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
