/** The changes of a run's head, each a pure decision over the head as it is (docs/design/runs#changes). */
import { dlqIdOf } from "../shared/ids.ts";
import { runGroupMax, runStepsMax } from "../shared/limits.ts";
import { type EntryKey, extended, groupEnd, has, type StepKey } from "./order.ts";
import { partOf } from "./delivery.ts";
import { isActive, type PartName, type Run, type RunFailure, type RunIn } from "./run.ts";

export type Appended =
  /** `fresh`: those of the entries that the run had not, in their order. The rest are known. */
  | { readonly kind: "appended"; readonly run: RunIn<"active">; readonly fresh: readonly StepKey[] }
  | { readonly kind: "refused"; readonly text: string };

/** All of `keys` that the run has not yet are accepted, or none: the first of each key wins. */
export function append(run: RunIn<"active">, keys: readonly StepKey[]): Appended {
  const fresh: StepKey[] = [];
  const seen = new Set<PartName>();
  for (const key of keys) {
    const name = partOf(key);
    if (seen.has(name) || has(run.history, key)) continue;
    seen.add(name);
    fresh.push(key);
  }
  const reached = fresh.reduce((most, { step }) => Math.max(most, step), run.reached);
  if (reached > runStepsMax) return refused(`a run may have ${runStepsMax} steps`);
  if (fresh.filter(({ role }) => role === "plan").length > runGroupMax)
    return refused(`a parallel group may have ${runGroupMax} steps`);
  if (fresh.length === 0) return { kind: "appended", run, fresh };
  const history = extended(run.history, fresh);
  return { kind: "appended", run: changed({ ...run, history, reached }), fresh };
}

const refused = (text: string): Appended => ({ kind: "refused", text });

/** What the delivery of the entry causes has been accepted: it has succeeded, whatever became of its answer. */
export function isAnswered({ history, reached }: Run, key: EntryKey): boolean {
  switch (key.role) {
    case "start":
      return reached > 0;
    case "plan":
      return has(history, { role: "result", step: key.step });
    case "result":
      return reached > groupEnd(history, key.step);
  }
}

/** A run ends by one write, and stays what it has become. */
export const finish = (run: RunIn<"active">, now: number): RunIn<"succeeded" | "canceled"> =>
  changed({ ...run, state: { kind: "succeeded", endedAt: now } });

export const cancelRun = (run: RunIn<"active">, now: number): RunIn<"succeeded" | "canceled"> =>
  changed({ ...run, state: { kind: "canceled", endedAt: now } });

/** Undefined: the run has ended, or has passed the delivery that failed. */
export function failRun(
  run: Run,
  key: EntryKey,
  failure: Omit<RunFailure, "dlqId" | "at">,
  now: number,
): RunIn<"failed"> | undefined {
  if (!isActive(run) || isAnswered(run, key)) return undefined;
  const dlqId = dlqIdOf(run.root, now);
  const state = {
    kind: "failed",
    endedAt: now,
    failure: { ...failure, dlqId, at: partOf(key) },
  } as const;
  return changed({ ...run, state });
}

const changed = <R extends Run>(run: R): R => ({ ...run, version: run.version + 1 });
