/**
 * Runs of workflows (C22): each acknowledged run ends with what its steps return (R1, R20), an entry is delivered with the same history
 * in every attempt (R4), and the code of a step runs again only with a cause (R15).
 */
import { faultsBetween } from "./excuse.ts";
import { type Fault, type History, type Visit } from "./journal.ts";
import { violation, type Violation } from "./violation.ts";

/** The result of the run with that number (world/workflows.ts). */
const resultOf = (n: number): number => 7 * n + 3;

/** How long after a visit its outcome may be lost with the process that made it. */
const leaseMs = 30_000;

export const runRules = (history: History): readonly Violation[] => [
  ...standing(history),
  ...history.ends
    .filter(({ n, value }) => value !== resultOf(n))
    .map((end) => violation("a run has another result", end)),
  ...changing(history),
  ...doneAgain(history),
];

/** Finds runs that have not ended. */
export function standing({ ends, starts }: Pick<History, "starts" | "ends">): readonly Violation[] {
  const ended = new Set(ends.map(({ n }) => n));
  return starts
    .filter(({ n }) => !ended.has(n))
    .map((start) => violation("a run has not ended", start));
}

const changing = ({ visits }: History): readonly Violation[] =>
  [...Map.groupBy(visits, ({ id }) => id).values()]
    .filter((own) => new Set(own.map(({ digest }) => digest)).size > 1)
    .map((own) => violation("an entry was delivered with two histories", own));

/** An endpoint that did not answer 2xx is called again: the result of its step was not received. */
function doneAgain({ faults, visits }: History): readonly Violation[] {
  const doing = visits.flatMap((visit) =>
    visit.steps.map((step) => ({ ...visit, key: `${visit.run} ${step}` })),
  );
  return [...Map.groupBy(doing, ({ key }) => key).values()].flatMap((unsorted) => {
    const own = unsorted.toSorted((a, b) => a.at - b.at);
    return own.slice(1).flatMap((later, i) => {
      const earlier = own[i];
      return !earlier || isExplained(earlier, later, faults)
        ? []
        : [violation("a step was done again without a cause", { earlier, later })];
    });
  });
}

const isExplained = (earlier: Visit, later: Visit, faults: readonly Fault[]): boolean =>
  earlier.status < 200 ||
  earlier.status > 299 ||
  faultsBetween(faults, "repeat", earlier.at, Math.min(earlier.until + leaseMs, later.at)).length >
    0;
