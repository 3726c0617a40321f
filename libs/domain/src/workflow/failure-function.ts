/**
 * The failure function is told of the failure of a run, in rounds: the first when the run fails, another when the
 * caller asks for it after a round that has not succeeded. A round ends once.
 */
import { partKeyOf, type PartName } from "./part-key.ts";
import { changedRun, type FailureFunction, type Run, type RunIn } from "./run.ts";

/** Returns the round of a part; undefined for a part that does not report a failure. */
export function roundOf(part: PartName): number | undefined {
  const key = partKeyOf(part);
  return key?.role === "told" ? key.round : undefined;
}

export const isTelling = (run: Run | undefined, part: PartName): boolean =>
  run?.state.kind === "failed" &&
  run.state.failure.function?.state === "running" &&
  run.state.failure.function.round === roundOf(part);

/** Ends the round of `part`. Returns undefined if that round has ended, or another one runs. */
export const functionEnded = (
  run: Run,
  part: PartName,
  state: "succeeded" | "failed",
): RunIn<"failed"> | undefined => (isTelling(run, part) ? withFunction(run, { state }) : undefined);

/** Cancels the running round. Returns undefined if none is running. */
export const functionCanceled = (run: Run): RunIn<"failed"> | undefined =>
  run.state.kind === "failed" && run.state.failure.function?.state === "running"
    ? withFunction(run, { state: "canceled" })
    : undefined;

/** Begins the next round. Returns undefined if there is no failure function, or it is running or has succeeded. */
export function functionAgain(run: Run): RunIn<"failed"> | undefined {
  if (run.state.kind !== "failed") return undefined;
  const { function: before } = run.state.failure;
  if (!before || before.state === "running" || before.state === "succeeded") return undefined;
  return withFunction(run, { state: "running", round: before.round + 1 });
}

function withFunction(run: Run, changed: Partial<FailureFunction>): RunIn<"failed"> | undefined {
  const { state } = run;
  if (state.kind !== "failed" || !state.failure.function) return undefined;
  const failure = { ...state.failure, function: { ...state.failure.function, ...changed } };
  return changedRun({ ...run, state: { ...state, failure } });
}
