/** C10, C11, C18 and C19: the promises of flow-control keys, by the calls at the destinations and the grants. */
import { type FlowLimits, type FlowId, limits, type MessageId } from "@posthaste/domain";
import { type Grant, type History } from "../world/history.ts";

/** C10: attempts at once per flow key. */
export function checkOverlap(history: History): void {
  const published = limitsPublished(history);
  const inLanes = Map.groupBy(
    history.exchanges,
    ({ id }) => history.lives.get(id)?.[0]?.record.message.flow,
  );
  for (const [lane, exchanges] of inLanes) {
    if (lane === undefined) continue;
    const allowed = Math.max(
      ...(published.get(lane) ?? []).map(({ parallelism = Infinity }) => parallelism),
      ...history.pins.filter((pin) => pin.lane === lane).map(({ parallelism }) => parallelism),
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

/** Returns all limits that were published for a lane. The last ones apply to messages that wait already, too. */
function limitsPublished(history: History): ReadonlyMap<FlowId, readonly FlowLimits[]> {
  const published = new Map<FlowId, FlowLimits[]>();
  for (const [life] of history.lives.values()) {
    const { flow, policy } = life?.record.message ?? {};
    if (flow !== undefined && policy?.flow)
      published.set(flow, [...(published.get(flow) ?? []), policy.flow.limits]);
  }
  return published;
}

/** How long a grant may run after it has read the lane's row, before its pause or pin. */
const underWayMsMax = 10_000;

/** C18: a grant that begins after the answer to a pause grants nothing. */
export function checkPauses(history: History): void {
  for (const { lane, from, to } of history.pauses)
    for (const grant of history.grants) {
      const isPaused = grant.at > from + underWayMsMax && grant.at < to;
      if (grant.lane !== lane || !isPaused || grant.ids.length === 0) continue;
      if (!history.explains([grant.node], from, grant.at))
        history.violate("C18", `${lane} gave ${grant.ids.length} slots while it was paused`);
    }
}

/** C19: pinned limits hold whatever is published. */
export function checkPins(history: History): void {
  for (const { lane, from, parallelism, to } of history.pins)
    for (const grant of history.grants) {
      const isPinned = grant.at > from + underWayMsMax && grant.at < to;
      if (grant.lane !== lane || !isPinned || grant.parallelism === parallelism) continue;
      if (!history.explains([grant.node], from, grant.at))
        history.violate("C19", `${lane} was granted by ${grant.parallelism}, not ${parallelism}`);
    }
}

/** C11: grants per window; a grant without a call has given its token back. */
export function checkRates(history: History): void {
  const published = limitsPublished(history);
  const isUsed = usedGrants(history);
  for (const [lane, grants] of Map.groupBy(history.grants, (grant) => grant.lane)) {
    let window: { startedAt: number; count: number } | undefined;
    let lastAt = -Infinity;
    const rates = published.get(lane) ?? [];
    // Taken by publishes that were never inserted.
    if (rates.length === 0) continue;
    const rate = Math.max(...rates.map((each) => each.rate ?? Infinity));
    const periodMs = Math.min(...rates.map((each) => each.periodMs));
    for (const grant of grants) {
      const { at, ids } = grant;
      if (ids.length === 0) continue;
      // The window of a flushed store is unknown here until a new one must have begun.
      if (history.explains([], lastAt, at, ["flush"])) window = undefined;
      if (at - lastAt >= periodMs || (window && at >= window.startedAt + periodMs))
        window = { startedAt: at, count: 0 };
      lastAt = at;
      if (!window) continue;
      window.count += ids.filter((id) => isUsed(id, grant)).length;
      if (window.count > rate)
        history.violate("C11", `${lane}: ${window.count} dispatches in one window of ${rate}`);
    }
  }
  checkStarts(history, published);
}

/** Reports whether a call was made by a grant to `id`, and not by a later one, which another granter may have made at the same moment. */
function usedGrants(history: History): (id: MessageId, grant: Grant) => boolean {
  const uses = Map.groupBy(history.uses, ({ id }) => id);
  const grants = new Map<MessageId, Grant[]>();
  for (const grant of history.grants)
    for (const id of grant.ids) grants.set(id, [...(grants.get(id) ?? []), grant]);
  return (id, grant) => {
    const ofId = grants.get(id) ?? [];
    const nextAt = ofId[ofId.indexOf(grant) + 1]?.at ?? Infinity;
    return (uses.get(id) ?? []).some((use) => use.at >= grant.at && use.at < nextAt);
  };
}

/** C11 at the destinations: granted attempts may start up to a grant late, so a period sees at most those of the windows before it. */
function checkStarts(
  history: History,
  published: ReadonlyMap<FlowId, readonly FlowLimits[]>,
): void {
  const inLanes = Map.groupBy(
    history.exchanges,
    ({ id }) => history.lives.get(id)?.[0]?.record.message.flow,
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
