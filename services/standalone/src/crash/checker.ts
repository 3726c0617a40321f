/**
 * The independent checker: reads only the journals. Nothing acknowledged is lost (C1), nothing arrives that was not sent
 * (C2), nothing arrives early (C6), and each repeat after a 2xx has a kill that explains it (C4).
 */
import { type Ack, type Arrival, type Kill } from "./journal.ts";

export type Verdict = {
  readonly acknowledged: number;
  readonly arrived: number;
  readonly explainedRepeats: number;
  readonly deliveredWithoutAck: number;
  readonly violations: readonly string[];
};

/** A lease after the earlier attempt, and the time that an arrival and a kill may be apart in the two processes' journals. */
const leaseMs = 30_000;
const skewMs = 1_000;
const earlyMs = 5;
const violationsShown = 20;

export function check(
  acks: readonly Ack[],
  arrivals: readonly Arrival[],
  kills: readonly Kill[],
): Verdict {
  const byNumber = Map.groupBy(
    arrivals.filter(({ source }) => source === undefined),
    ({ n }) => n,
  );
  const callbacks = Map.groupBy(
    arrivals.filter(({ source }) => source !== undefined),
    ({ source }) => source,
  );
  const violations: string[] = [];
  let explainedRepeats = 0;
  for (const ack of acks) {
    const own = (byNumber.get(ack.n) ?? []).filter(({ id }) => id === ack.id);
    const good = own.filter(({ status }) => status === 200);
    if (good.length === 0) violations.push(`lost: ${JSON.stringify(ack)}`);
    if (own.some(({ at }) => at < ack.notBefore - earlyMs))
      violations.push(`early: ${JSON.stringify(ack)}`);
    if (ack.kind === "callback" && !callbacks.has(ack.id))
      violations.push(`callback lost: ${JSON.stringify(ack)}`);
    if (
      ack.kind === "deduplicated" &&
      new Set((byNumber.get(ack.n) ?? []).map(({ id }) => id)).size > 1
    ) {
      violations.push(`two messages under one deduplication id: ${JSON.stringify(ack)}`);
    }
    const repeats = repeatsOf(good, kills);
    explainedRepeats += repeats.explained;
    violations.push(
      ...repeats.unexplained.map(
        (repeat) => `repeated without a kill: ${JSON.stringify([ack, repeat])}`,
      ),
    );
  }
  for (const told of callbacks.values()) {
    if (new Set(told.map(({ id }) => id)).size > 1)
      violations.push(`two callbacks for one attempt: ${JSON.stringify(told)}`);
  }
  violations.push(
    ...arrivals
      .filter(({ intact }) => !intact)
      .map((arrival) => `altered: ${JSON.stringify(arrival)}`),
  );
  const acked = new Set(acks.map(({ id }) => id));
  const unacked = new Set(
    arrivals.filter(({ id, source }) => source === undefined && !acked.has(id)).map(({ id }) => id),
  );
  return {
    acknowledged: acks.length,
    arrived: arrivals.length,
    explainedRepeats,
    deliveredWithoutAck: unacked.size,
    violations: violations.slice(0, violationsShown),
  };
}

function repeatsOf(
  good: readonly Arrival[],
  kills: readonly Kill[],
): { explained: number; unexplained: readonly Arrival[] } {
  const unexplained: Arrival[] = [];
  for (const [i, later] of good.entries()) {
    const earlier = good[i - 1];
    if (!earlier) continue;
    const explained = kills.some(
      ({ at }) =>
        at >= earlier.at - skewMs && at <= earlier.at + leaseMs && at <= later.at + skewMs,
    );
    if (!explained) unexplained.push(later);
  }
  return { explained: Math.max(0, good.length - 1 - unexplained.length), unexplained };
}
