/** Publishes are answered, apart from refusals that a fault allows, and with the status that it allows. */
import { faultsBetween } from "./excuse.ts";
import { type History, type Leave, type Refusal } from "./journal.ts";
import { violation, type Violation } from "./violation.ts";

export const publishRules = ({ refusals, faults }: History): readonly Violation[] =>
  refusals
    .filter((refusal) => !isOverload(refusal))
    .filter((refusal) =>
      leavesFor(refusal).every(
        (leave) => faultsBetween(faults, leave, refusal.sentAt, refusal.at).length === 0,
      ),
    )
    .map((refusal) => violation("refused", refusal));

/** Reports whether the host is too busy for its tests: the answer says so, and asks to come back. */
const isOverload = ({ status, text }: Refusal): boolean =>
  status === 503 && text.includes("too much load");

/** Returns the effects, any of which explains the refusal. */
function leavesFor({ status, kind }: Refusal): readonly Leave[] {
  if (status === 0) return ["break"];
  if (status !== 503) return [];
  return kind === "deduplicated" ? ["refuse", "refuse deduplicated"] : ["refuse"];
}
