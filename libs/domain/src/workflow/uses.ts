/**
 * Uses of one run id, one after another. Endpoints name a run by its id alone, so their publishes belong to the
 * previous use while a delivery of that use may be under way. The next use is held until those deliveries are over
 * (docs/design/runs#starting).
 */
import { elapsedMs } from "../shared/time.ts";
import { runMessageId, type MessageId } from "../shared/ids.ts";
import { entriesBetween } from "./order.ts";
import { partOf } from "./part-key.ts";
import { changedRun, isActive, type Run, type RunIn, type RunRef } from "./run.ts";

/** Returns the use behind which a run that starts now is held; undefined if no delivery of that use can be under way. */
export function heldBehind(before: Run | undefined, now: number): RunRef | undefined {
  if (!before || before.state.kind === "active") return undefined;
  const { key, plan, root, state } = before;
  const { timeoutMs } = plan.policy;
  // Also applies if the clock that ended the use was ahead: a run that is held in vain continues at the first look at the claims.
  return elapsedMs(state.endedAt, timeoutMs, now) < timeoutMs ? { key, root } : undefined;
}

/** Reports whether nothing of a run has been delivered yet: requests that name its id alone belong to the previous use. */
export const isHeld = (run: Run): run is RunIn<"active"> =>
  isActive(run) && run.state.behind !== undefined;

/** Returns the run with its deliveries begun; undefined if they had begun, or the run has ended. */
export function released(run: Run): RunIn<"active"> | undefined {
  if (!isHeld(run)) return undefined;
  const { behind: _, ...state } = run.state;
  return changedRun({ ...run, state });
}

/** Returns the ids of the messages by which a run's endpoint was called: while one is under way the endpoint may publish for the run. */
export function askedBy({ history, root, state }: Run): readonly MessageId[] {
  const entries = entriesBetween(history, 0, history.length - 1).map(partOf);
  const steps = state.pending.flatMap((each) => (each.kind === "call" ? each.step : []));
  const answers = steps.map((step) => partOf({ role: "answer", step }));
  return [...entries, "adopted", ...answers].map((part) => runMessageId(root, part));
}
