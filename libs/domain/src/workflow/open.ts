/** What carries a run: the deliveries and calls that it goes on by. */
import { partOf } from "./delivery.ts";
import { type EntryKey, entriesBetween, has, type Order } from "./order.ts";
import { type PartName, type Run, type RunState } from "./run.ts";

type Open = Pick<Run, "history"> & { readonly state: Pick<RunState, "pending"> };

/** Its entries that are to be delivered again: planned steps that have not begun, or the last entry if nothing else is open. */
export function openEntries({ history, state }: Open): readonly EntryKey[] {
  const pending = new Set(state.pending.map(({ step }) => step));
  const planned = history.spans
    .filter(({ role }) => role === "plan")
    .flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
  const open = planned.filter(
    (step) => !pending.has(step) && !has(history, { role: "result", step }),
  );
  if (open.length > 0 || pending.size > 0) return open.map((step) => ({ role: "plan", step }));
  return entriesBetween(history, history.length - 1, history.length - 1);
}

/**
 * Of a run that has ended what may still be to be delivered: what it would have gone on by, but the delivery that it has
 * returned from or failed at; and where its deliveries wait in a line, those of members of a group that it has passed.
 */
export function leftOpen({ history, plan, state }: Run): readonly PartName[] {
  const { pending } = state;
  const calls = pending.flatMap((each) =>
    each.kind === "call"
      ? partOf({ role: each.isAnswered ? "answer" : "call", step: each.step })
      : [],
  );
  const entries = openEntries({ history, state });
  const open = state.kind === "succeeded" ? entries.filter(({ role }) => role === "plan") : entries;
  const mayWait = plan.policy.flow || !plan.features.includes("WF_TriggerOnConfig");
  const passed = mayWait ? groupResults(history) : [];
  const names = new Set([...open.map(partOf), ...calls, ...passed.map(partOf)]);
  if (state.kind === "failed") names.delete(state.failure.at);
  return [...names];
}

const groupResults = (history: Order): readonly EntryKey[] =>
  history.spans
    .filter(({ role }) => role === "plan")
    .flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
    .map((step) => ({ role: "result", step }) as const)
    .filter((key) => has(history, key));
