/** What carries a run: the deliveries and calls that it goes on by. */
import { partOf } from "./delivery.ts";
import { type EntryKey, entriesBetween, has } from "./order.ts";
import { type PartName, type Pending, type Run, type RunState } from "./run.ts";

/** Of a run that is active, or has failed. */
type Open = Pick<Run, "history"> & { readonly state: { readonly pending: readonly Pending[] } };

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

/** The messages by which a run that ends would have gone on, but the one that it has just returned from. */
export function leftOpen(run: Run, ended: RunState["kind"]): readonly PartName[] {
  const { state } = run;
  if (state.kind !== "active") return [];
  const calls = state.pending.flatMap((each) =>
    each.kind === "call"
      ? partOf({ role: each.isAnswered ? "answer" : "call", step: each.step })
      : [],
  );
  const entries = openEntries({ history: run.history, state });
  const others = ended === "succeeded" ? entries.filter(({ role }) => role === "plan") : entries;
  return [...others.map(partOf), ...calls];
}
