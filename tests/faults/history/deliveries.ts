/** Acknowledged messages arrive (C1) as they were sent (C2), as often as asked for (C3), and never early (C6). */
import { type Ack, type Arrival, type History } from "./journal.ts";
import { planOf } from "./kinds.ts";
import { violation, type Violation } from "./violation.ts";

/**
 * Due times use the store's clock, which each process knows as precisely as the answer to its question was quick: on
 * a busy host to some hundred milliseconds. A delay that is ignored altogether is longer.
 */
const earlyMs = 750;

export function deliveryRules(history: History): readonly Violation[] {
  const { acks, arrivals } = history;
  const byId = Map.groupBy(arrivals, ({ id }) => id);
  return [
    ...lost(history),
    ...arrivals.filter(({ intact }) => !intact).map((arrival) => violation("altered", arrival)),
    ...acks.flatMap((ack) => {
      const own = byId.get(ack.id) ?? [];
      const { delayMs, retriesMax } = planOf(ack.kind, ack.n, "");
      return [
        // If a message is published more than once, the first may have been delivered before the last was sent.
        ...own
          .filter(({ at }) => delayMs > 0 && at < ack.notBefore - earlyMs)
          .map((arrival) => violation("early", { ack, arrival })),
        ...own
          .filter(({ retried }) => retried > retriesMax)
          .map((arrival) => violation("more attempts than asked for", { ack, arrival })),
      ];
    }),
  ];
}

/** Finds messages that have not come to the end of their kind. */
export function lost({ acks, arrivals }: Pick<History, "acks" | "arrivals">): readonly Violation[] {
  const delivered = new Set(arrivals.filter(isSuccess).map(({ id }) => id));
  const told = new Set(
    arrivals.flatMap(({ tells }) => (tells?.dlqId === undefined ? [] : tells.source)),
  );
  const hasEnded = (ack: Ack): boolean =>
    (planOf(ack.kind, ack.n, "").ends === "delivered" ? delivered : told).has(ack.id);
  return acks.filter((ack) => !hasEnded(ack)).map((ack) => violation("lost", ack));
}

export const isSuccess = ({ status }: Arrival): boolean => status >= 200 && status < 300;
