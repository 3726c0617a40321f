/** Flow control: no more at once (C10) and no more in a time (C11) than a lane's limits, and no delivery without a slot. */
import { faultsBetween } from "./excuse.ts";
import { type Arrival, type Fault, type History } from "./journal.ts";
import { type Lane, lanes } from "./kinds.ts";
import { violation, type Violation } from "./violation.ts";

export function laneRules(history: History): readonly Violation[] {
  const byLane = Map.groupBy(history.arrivals, ({ lane }) => lane);
  return [
    ...[...byLane].flatMap(([lane, unsorted]) => {
      if (lane === undefined) return [];
      const arrivals = unsorted.toSorted((a, b) => a.at - b.at);
      return [
        ...tooManyAtOnce(lane, lanes[lane].parallelism, arrivals, history.faults),
        ...tooManyInTime(lane, arrivals, history.faults),
      ];
    }),
    ...withoutSlot(history),
  ];
}

/** A stopped process may find only after sending something that its slot has ended. */
const awakeMs = 5_000;

/** Checks a lane or a queue; `arrivals` are in their order. */
export function tooManyAtOnce(
  lane: string,
  parallelism: number | undefined,
  arrivals: readonly Arrival[],
  faults: readonly Fault[],
): readonly Violation[] {
  let running: readonly Arrival[] = [];
  return arrivals.flatMap((arrival) => {
    running = [...running.filter(({ until }) => until > arrival.at), arrival];
    const since = Math.min(...running.map(({ at }) => at));
    const causes = faultsBetween(faults, "overlap", since - awakeMs, arrival.at);
    if (running.length <= (parallelism ?? Infinity) || causes.length > 0) return [];
    return [violation("more at once than the lane allows", { lane, running })];
  });
}

/** From its grant to its arrival a message takes milliseconds; on a busy host, seconds. */
const underWayMs = 10_000;
/** No grant is older when it is used (docs/design/lanes#grants). */
const grantMs = 30_000;
/** The arrivals checked in a row; longer rows hold no more information. */
const lookedAtMax = 200;

/**
 * Compares any arrivals in a row with the windows that they may stem from: those between the first and the last, and
 * the two that these are in. If dispatches were held up, those of several windows arrive together.
 */
function tooManyInTime(
  lane: Lane,
  arrivals: readonly Arrival[],
  faults: readonly Fault[],
): readonly Violation[] {
  const { rate, periodMs } = lanes[lane];
  if (rate === undefined || periodMs === undefined) return [];
  for (const [i, first] of arrivals.entries()) {
    for (const [distance, last] of arrivals.slice(i, i + lookedAtMax).entries()) {
      const spanMs = last.at - first.at + underWayMs + heldUpMs(faults, first.at, last.at);
      const windows = Math.floor(spanMs / periodMs) + 2;
      const forgotten = faultsBetween(faults, "forget", first.at - grantMs, last.at).length;
      if (distance + 1 > rate * (windows + forgotten))
        return [
          violation("more in a time than the lane allows", { lane, n: distance + 1, first, last }),
        ];
    }
  }
  return [];
}

const heldUpMs = (faults: readonly Fault[], from: number, to: number): number =>
  Math.min(
    grantMs,
    faults
      .filter(({ at, over }) => at <= to && over >= from - grantMs)
      .reduce((sum, { at, over }) => sum + over - at, 0),
  );

/** Allowed between a fault's beginning and the publishes after it. */
const beginningMs = 100;

function withoutSlot({ acks, arrivals, faults }: History): readonly Violation[] {
  const byId = Map.groupBy(
    arrivals.filter(({ lane }) => lane !== undefined),
    ({ id }) => id,
  );
  return faults
    .filter(({ stopsLanes }) => stopsLanes)
    .flatMap(({ at, until }) =>
      acks
        .filter(({ sentAt }) => sentAt > at + beginningMs && sentAt < until)
        .flatMap(({ id }) => byId.get(id) ?? [])
        .filter((arrival) => arrival.at < until)
        .map((arrival) => violation("delivered without a slot", arrival)),
    );
}
