/** C10 and C11: what flow-control keys promise, as the destinations and the grants show it. */
import { type FlowLimits, type LaneId, limits } from "@posthaste/domain";
import { type History } from "../world/history.ts";

/** C10: attempts at once per flow key. */
export function checkOverlap(history: History): void {
  const published = limitsPublished(history);
  const inLanes = Map.groupBy(
    history.exchanges,
    ({ id }) => history.lives.get(id)?.[0]?.record.message.flowLane,
  );
  for (const [lane, exchanges] of inLanes) {
    if (lane === undefined) continue;
    const allowed = Math.max(
      ...(published.get(lane) ?? []).map(({ parallelism = Infinity }) => parallelism),
    );
    for (const one of exchanges) {
      const others = exchanges.filter(
        (other) =>
          other !== one && other.sentAt <= one.sentAt && (other.endedAt ?? Infinity) > one.sentAt,
      );
      const counting = [...others, one].filter(({ id, sentAt, endedAt, node }) => {
        const canceledAt = history.cancels.get(id)?.at ?? Infinity;
        return (
          canceledAt > one.sentAt &&
          !history.explains([node], sentAt - limits.leaseMs, endedAt ?? one.sentAt)
        );
      });
      if (counting.length > allowed)
        history.violate(
          "C10",
          `${lane}: ${counting.length} attempts at once, ${allowed} are allowed (${counting.map(({ id }) => id).join(", ")})`,
        );
    }
  }
}

/** All limits that were published for a lane; the last ones hold, for those who wait already, too. */
function limitsPublished(history: History): ReadonlyMap<LaneId, readonly FlowLimits[]> {
  const published = new Map<LaneId, FlowLimits[]>();
  for (const [life] of history.lives.values()) {
    const { flowLane, policy } = life?.record.message ?? {};
    if (flowLane !== undefined && policy?.flow)
      published.set(flowLane, [...(published.get(flowLane) ?? []), policy.flow.limits]);
  }
  return published;
}

/** C11: grants per window. */
export function checkRates(history: History): void {
  const published = limitsPublished(history);
  for (const [lane, grants] of Map.groupBy(history.grants, (grant) => grant.lane)) {
    let window: { startedAt: number; count: number } | undefined;
    let lastAt = -Infinity;
    const rates = published.get(lane) ?? [];
    const rate = Math.max(...rates.map((each) => each.rate ?? Infinity));
    const periodMs = Math.min(...rates.map((each) => each.periodMs));
    for (const { at, ids } of grants) {
      if (ids.length === 0) continue;
      // Which window a forgetful store was told of, nobody here knows, until one must be new.
      if (history.explains([], lastAt, at, ["flush"])) window = undefined;
      if (at - lastAt >= periodMs || (window && at >= window.startedAt + periodMs))
        window = { startedAt: at, count: 0 };
      lastAt = at;
      if (!window) continue;
      window.count += ids.length;
      if (window.count > rate)
        history.violate("C11", `${lane}: ${window.count} dispatches in one window of ${rate}`);
    }
  }
  checkStarts(history, published);
}

/** What the destinations see: granted attempts may start up to a grant late, so a period sees at most those of the windows before it. */
function checkStarts(
  history: History,
  published: ReadonlyMap<LaneId, readonly FlowLimits[]>,
): void {
  const inLanes = Map.groupBy(
    history.exchanges,
    ({ id }) => history.lives.get(id)?.[0]?.record.message.flowLane,
  );
  for (const [lane, exchanges] of inLanes) {
    const rates = (lane === undefined ? undefined : published.get(lane)) ?? [];
    const rate = Math.max(...rates.map((each) => each.rate ?? Infinity));
    const periodMs = Math.min(...rates.map((each) => each.periodMs));
    if (lane === undefined || rate === Infinity || rates.length === 0) continue;
    const windows = Math.ceil((periodMs + limits.grantMs) / periodMs) + 1;
    for (const { sentAt, node } of exchanges) {
      if (history.explains([node], sentAt - limits.leaseMs, sentAt + periodMs)) continue;
      const inPeriod = exchanges.filter(
        (other) => other.sentAt >= sentAt && other.sentAt < sentAt + periodMs,
      ).length;
      if (inPeriod > rate * windows)
        history.violate(
          "C11",
          `${lane}: ${inPeriod} attempts within ${periodMs} ms, ${rate} are allowed`,
        );
    }
  }
}
