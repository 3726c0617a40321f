/** Finds runs that stand still: an endpoint has taken a delivery and published nothing (docs/design/runs#standing-still). */
import { openEntries } from "./open.ts";
import { partOf, type PartName } from "./part-key.ts";
import { isActive, type Run } from "./run.ts";

/** Reports whether a run stands still after the delivery of `part` was answered with 2xx: the delivery has had no effect. */
export function standsStill(run: Run, part: PartName): boolean {
  if (!isActive(run)) return false;
  const isUnheard = run.state.pending.some(
    ({ kind, step }) => kind === "call" && partOf({ role: "answer", step }) === part,
  );
  return isUnheard || openEntries(run).some((entry) => partOf(entry) === part);
}
