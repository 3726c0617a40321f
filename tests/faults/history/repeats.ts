/** Each repeated attempt has a fault that explains it (C4), of callbacks and of messages that were not acknowledged, too. */
import { isSuccess } from "./deliveries.ts";
import { faultsBetween } from "./excuse.ts";
import { type Arrival, type History } from "./journal.ts";
import { violation, type Violation } from "./violation.ts";

/** How long after an attempt its outcome may be lost with the process that made it. */
const leaseMs = 30_000;

type Repeat = { readonly earlier: Arrival; readonly later: Arrival; readonly isExplained: boolean };

export const repeatRules = (history: History): readonly Violation[] =>
  repeatsIn(history)
    .filter(({ isExplained }) => !isExplained)
    .map(({ earlier, later }) => violation("repeated without a fault", { earlier, later }));

export const explainedRepeats = (history: History): number =>
  repeatsIn(history).filter(({ isExplained }) => isExplained).length;

function repeatsIn({ arrivals, faults }: History): readonly Repeat[] {
  return [...Map.groupBy(arrivals, ({ id }) => id).values()].flatMap((unsorted) => {
    const own = unsorted.toSorted((a, b) => a.at - b.at);
    return own.flatMap((later, i): readonly Repeat[] => {
      const earlier = own.slice(0, i).findLast((arrival) => isRepeated(arrival, later));
      if (!earlier) return [];
      const lostBy = Math.min(earlier.until + leaseMs, later.at);
      const causes = faultsBetween(faults, "repeat", earlier.at, lostBy);
      return [{ earlier, later, isExplained: causes.length > 0 }];
    });
  });
}

/** No attempt may follow a success, and a failure is followed by the next attempt. */
const isRepeated = (earlier: Arrival, later: Arrival): boolean =>
  isSuccess(earlier) || earlier.retried === later.retried;
