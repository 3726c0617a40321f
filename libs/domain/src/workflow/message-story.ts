/** The story of each message of a run. The effects of a message prove that it was delivered, and show when (docs/workflows). */
import { type DeliveryKey } from "./order.ts";
import { deliveryOf, type PartKey, partKeyOf, partOf, type PartName } from "./part-key.ts";
import { isFailed, type Run } from "./run.ts";
import { openDeliveries } from "./story.ts";

export type MessageStory = {
  readonly name: PartName;
  readonly key: DeliveryKey;
  /** Absent if the message is under way, or its end is not known. */
  readonly end?: { readonly kind: "delivered" | "failed" | "canceled"; readonly at: number };
};

type Written = { readonly name: PartName; readonly at: number };

/**
 * Returns the messages that belong to the log of this run, and not to that of the failed run which it resumes.
 * `tried`: the messages with failed attempts.
 */
export function messageStories(
  run: Run,
  parts: ReadonlyMap<PartName, Written>,
  tried: ReadonlySet<PartName>,
): readonly MessageStory[] {
  const { state } = run;
  const begunAt = beginnings(parts);
  const groupEnds = groupEndsOf(run);
  // Parts that are not delivered yet, or were not when the run ended.
  const open = new Set(openDeliveries(run).map(partOf));
  return [...parts.values()].flatMap(({ at, name }) => {
    const key = deliveryOf(name);
    if (!key || !isOfRun(key, at, name)) return [];
    const end = endOf(key, name);
    return [{ name, key, ...(end && { end }) }];
  });

  /** Members of a group are resumed by their plans; other messages are issued again, or show that they were. */
  function isOfRun(key: DeliveryKey, at: number, name: PartName): boolean {
    if (at >= run.createdAt || open.has(name) || tried.has(name)) return true;
    if (isFailed(run) && run.state.failure.at === name) return true;
    const isOfGroup = key.role === "result" && groupEnds.has(key.step);
    return !isOfGroup && (causedAt(key) ?? 0) >= run.createdAt;
  }

  /** A group's result that is not the last has no effect: its end is known once the group is passed. */
  function endOf(key: DeliveryKey, name: PartName): MessageStory["end"] {
    const delivered = causedAt(key);
    if (delivered !== undefined) return { kind: "delivered", at: delivered };
    if (state.kind === "active") return undefined;
    if (isFailed(run) && run.state.failure.at === name)
      return { kind: "failed", at: state.endedAt };
    return open.has(name) ? { kind: "canceled", at: state.endedAt } : undefined;
  }

  /** Returns when a message had an effect, and so had been delivered. */
  function causedAt(key: DeliveryKey): number | undefined {
    switch (key.role) {
      case "start":
        return atOf({ role: "adopted" }) ?? goesOn(1);
      case "adopted":
        return goesOn(1);
      case "plan":
        return earliest(
          causedByPlan
            .map((role) => atOf({ role, step: key.step }))
            .filter((at) => at !== undefined),
        );
      case "call":
        return atOf({ role: "answer", step: key.step });
      case "answer":
        return atOf({ role: "result", step: key.step });
      case "result":
        return goesOn((groupEnds.get(key.step) ?? key.step) + 1);
    }
  }

  function goesOn(step: number): number | undefined {
    return begunAt.get(step) ?? (state.kind === "succeeded" ? state.endedAt : undefined);
  }

  function atOf(key: PartKey): number | undefined {
    return parts.get(partOf(key))?.at;
  }
}

const causedByPlan = ["call", "wait", "invocation", "result"] as const;
const beginningRoles: ReadonlySet<string> = new Set(["plan", ...causedByPlan]);

/** Returns when each step began. */
function beginnings(parts: ReadonlyMap<PartName, Written>): ReadonlyMap<number, number> {
  const begun = new Map<number, number>();
  for (const { at, name } of parts.values()) {
    const key = partKeyOf(name);
    if (!key || !("step" in key) || !beginningRoles.has(key.role)) continue;
    begun.set(key.step, Math.min(at, begun.get(key.step) ?? at));
  }
  return begun;
}

/** Returns the last step of each step's group. */
const groupEndsOf = ({ history }: Run): ReadonlyMap<number, number> =>
  new Map(
    history.spans.flatMap(({ from, role, to }) =>
      role === "plan"
        ? Array.from({ length: to - from + 1 }, (_, i): [number, number] => [from + i, to])
        : [],
    ),
  );

const earliest = (times: readonly number[]): number | undefined =>
  times.length === 0 ? undefined : Math.min(...times);
