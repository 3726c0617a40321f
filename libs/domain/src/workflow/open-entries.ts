/** Finds the open deliveries and calls by which a run continues, and runs that stand still (docs/design/runs#standing-still). */
import {
  type DeliveryKey,
  type EntryKey,
  entriesBetween,
  has,
  type Order,
  plannedSteps,
} from "./order.ts";
import { partOf, type PartName } from "./part-key.ts";
import { isActive, type Pending, type Run, type RunState } from "./run.ts";

type Open = Pick<Run, "history"> & { readonly state: Pick<RunState, "pending"> };

/**
 * Returns the entries that are delivered again: planned steps that have not begun, or the last entry if nothing else is
 * open.
 */
export function openEntries({ history, state }: Open): readonly EntryKey[] {
  const pending = new Set(state.pending.map(({ step }) => step));
  const open = plannedSteps(history).filter(
    (step) => !pending.has(step) && !has(history, { role: "result", step }),
  );
  if (open.length > 0 || pending.size > 0) return open.map((step) => ({ role: "plan", step }));
  return entriesBetween(history, history.length - 1, history.length - 1);
}

/**
 * Returns the possibly undelivered messages of an ended run: those by which it would have continued, except the
 * delivery that it returned from or failed at. If its deliveries wait in a line, also results of members of groups
 * that it has passed.
 */
export function leftOpen({ history, plan, state }: Run): readonly PartName[] {
  const { pending } = state;
  const calls = pending.flatMap((each) => (each.kind === "call" ? partOf(callKey(each)) : []));
  const entries = openEntries({ history, state });
  const open = state.kind === "succeeded" ? entries.filter(({ role }) => role === "plan") : entries;
  const mayWait = plan.policy.flow || !plan.features.includes("WF_TriggerOnConfig");
  const passed = mayWait ? groupResults(history) : [];
  const names = new Set([...open.map(partOf), ...calls, ...passed.map(partOf)]);
  if (state.kind === "failed") names.delete(state.failure.at);
  return [...names];
}

const groupResults = (history: Order): readonly EntryKey[] =>
  plannedSteps(history)
    .map((step) => ({ role: "result", step }) as const)
    .filter((key) => has(history, key));

/** Returns the delivery of a call that a run waits for: the call, or its answer. */
export const callKey = ({
  isAnswered,
  step,
}: Pending & { readonly kind: "call" }): DeliveryKey => ({
  role: isAnswered ? "answer" : "call",
  step,
});

/** Reports whether a run stands still after the delivery of `part` was answered with 2xx: the delivery has had no effect. */
export function isStuck(run: Run, part: PartName): boolean {
  if (!isActive(run)) return false;
  const isUnheard = run.state.pending.some(
    ({ kind, step }) => kind === "call" && partOf({ role: "answer", step }) === part,
  );
  return isUnheard || openEntries(run).some((entry) => partOf(entry) === part);
}
