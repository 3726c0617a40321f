/** Runs that nothing will go on with: an endpoint has taken a delivery and published nothing (docs/design/runs#standing-still). */
import { partOf } from "./delivery.ts";
import { openEntries } from "./open.ts";
import { isActive, type PartName, type Run } from "./run.ts";

/** The delivery of this part was answered with 2xx, and what it was to cause is open nevertheless. */
export function standsStill(run: Run, part: PartName): boolean {
  if (!isActive(run)) return false;
  const isUnheard = run.state.pending.some(
    ({ kind, step }) => kind === "call" && partOf({ role: "answer", step }) === part,
  );
  return isUnheard || openEntries(run).some((entry) => partOf(entry) === part);
}
