/**
 * Rules of callbacks: one message reports each attempt that asks for it (C13), however often that message is
 * delivered; and the dead letter of a failed message exists when its failure callback arrives.
 */
import { isSuccess } from "./deliveries.ts";
import { type Arrival, type History } from "./journal.ts";
import { planOf } from "./kinds.ts";
import { violation, type Violation } from "./violation.ts";

export function callbackRules(history: History): readonly Violation[] {
  return [...untold(history), ...toldTwice(history), ...letterRules(history)];
}

type Telling = Arrival & Required<Pick<Arrival, "tells">>;
const isTelling = (arrival: Arrival): arrival is Telling => arrival.tells !== undefined;

/** Finds attempts of acknowledged messages without a callback. */
export function untold({
  acks,
  arrivals,
}: Pick<History, "acks" | "arrivals">): readonly Violation[] {
  const byId = Map.groupBy(arrivals, ({ id }) => id);
  const told = new Set(
    arrivals.filter(isTelling).map(({ tells }) => attemptName(tells.source, tells.retried)),
  );
  return acks.flatMap((ack) => {
    if (!planOf(ack.kind, ack.n, "").isTold) return [];
    const last = byId.get(ack.id)?.find(isSuccess);
    const attempts = Array.from({ length: (last?.retried ?? -1) + 1 }, (_, retried) => retried);
    return attempts
      .filter((retried) => !told.has(attemptName(ack.id, retried)))
      .map((retried) => violation("callback lost", { ack, retried }));
  });
}

function toldTwice({ arrivals }: History): readonly Violation[] {
  const byAttempt = Map.groupBy(arrivals.filter(isTelling), ({ tells }) =>
    // A failed message has one end, whichever attempt was its last.
    tells.dlqId === undefined
      ? attemptName(tells.source, tells.retried)
      : `the end of ${tells.source}`,
  );
  return [...byAttempt.values()]
    .filter((tellings) => new Set(tellings.map(({ id }) => id)).size > 1)
    .map((tellings) => violation("two callbacks for one attempt", tellings));
}

function letterRules(history: History): readonly Violation[] {
  return [
    ...history.letters
      .filter(({ status }) => status !== 200)
      .map((letter) => violation("no dead letter when its failure callback arrived", letter)),
    ...unread(history),
  ];
}

/** Finds dead letters that have not been looked up yet. */
export function unread({ arrivals, letters }: History): readonly Violation[] {
  const read = new Set(letters.map(({ dlqId }) => dlqId));
  return arrivals
    .filter(({ tells }) => tells?.dlqId !== undefined && !read.has(tells.dlqId))
    .map((arrival) => violation("dead letter not looked up", arrival));
}

const attemptName = (id: string, retried: number): string => `${id} ${retried}`;
