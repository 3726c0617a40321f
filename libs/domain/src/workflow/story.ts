/**
 * The story of a run: its steps in the groups in which they were published, each at its place according to the head.
 * Every view of a run shows this account.
 */
import { isFinished, type Progress } from "../message/message.ts";
import { callKey, openEntries } from "./open-entries.ts";
import { type DeliveryKey, has, plannedSteps } from "./order.ts";
import { deliveryOf, type PartKey, partOf, type PartName, partKeyOf } from "./part-key.ts";
import { isFailed, type Pending, type Run } from "./run.ts";

/** The standing of a step that is not done. `retried`: an attempt of its delivery has failed, and another follows. */
export type StepStatus = "open" | "retried" | "failed" | "canceled";

export type StepStory =
  /** `by`: the delivery by which the step was done. Absent if it was done by the end of a run that it had invoked. */
  | { readonly kind: "done"; readonly step: number; readonly by?: DeliveryKey }
  /** A sleep has its result from its beginning. The result is delivered when its time has come. */
  | (At & { readonly kind: "sleeping"; readonly by: DeliveryKey; readonly until?: number })
  /** A member of a group with only a plan. */
  | (At & Delivered & { readonly kind: "planned" })
  | (At & Delivered & { readonly kind: "called" })
  | (At & { readonly kind: "waiting"; readonly wait: Pending & { readonly kind: "wait" } })
  | (At & { readonly kind: "invoked"; readonly invocation: Pending & { readonly kind: "invoke" } })
  /** The step that the last delivery of the route is to publish. */
  | (At & Delivered & { readonly kind: "running" });

type At = { readonly step: number; readonly standing: StepStatus };
type Delivered = { readonly by: DeliveryKey; readonly progress?: Progress };

export type StoryGroup = {
  readonly type: "sequential" | "parallel" | "next";
  readonly steps: readonly StepStory[];
};

export type Known = {
  /** The progress of existing deliveries of `deliveriesShown`. */
  readonly progress: ReadonlyMap<PartName, Progress>;
  /** Returns when the sleep of a step ends; undefined for any other step. */
  readonly sleepsUntil: (step: number) => number | undefined;
};

/** Returns the groups after the start, in the order of the history; a result is shown where its step was planned. */
export function storyOf(run: Run, known: Known): readonly StoryGroup[] {
  const { history, state } = run;
  const groups: StoryGroup[] = [];
  const planned = new Set(plannedSteps(history));
  let before: DeliveryKey = { role: "start" };
  for (const { role, from, to } of history.spans)
    if (role === "plan")
      groups.push({ type: "parallel", steps: range(from, to, (step) => memberOf(step)) });
    else
      for (let step = from; step <= to; step++) {
        if (!planned.has(step)) groups.push(sequential(doneBy(step, before)));
        before = { role, step };
      }
  for (const pending of state.pending)
    if (!planned.has(pending.step)) groups.push(sequential(pendingStep(pending)));
  const next = nextDelivery(run);
  if (next && !isAsleep(next))
    groups.push({
      type: "next",
      steps: [{ kind: "running", step: run.reached + 1, ...delivered(next) }],
    });
  return groups;

  function memberOf(step: number): StepStory {
    const by = { role: "plan", step } as const;
    if (has(history, { role: "result", step })) return doneBy(step, by);
    const pending = state.pending.find((each) => each.step === step);
    return pending ? pendingStep(pending, by) : { kind: "planned", step, ...delivered(by) };
  }

  function doneBy(step: number, by: DeliveryKey): StepStory {
    const until = known.sleepsUntil(step);
    if (until === undefined) return { kind: "done", step, by };
    if (state.kind !== "active")
      return until > state.endedAt
        ? { kind: "sleeping", step, by, standing: "canceled" }
        : { kind: "done", step, by };
    const progress = known.progress.get(partOf({ role: "result", step }));
    return progress?.state.kind === "held" && progress.retried === 0
      ? { kind: "sleeping", step, by, standing: "open", until: progress.state.dueAt }
      : { kind: "done", step, by };
  }

  function pendingStep(pending: Pending, by?: DeliveryKey): StepStory {
    const { kind, step } = pending;
    switch (kind) {
      case "call":
        return { kind: "called", step, ...delivered(callKey(pending)) };
      case "wait":
        return { kind: "waiting", step, wait: pending, standing: standingOf({ role: kind, step }) };
      case "invoke":
        // The end of that run is in this run's log, and in no history.
        if (pending.isLogged) return { kind: "done", step, ...(by && { by }) };
        return {
          ...{ kind: "invoked", step, invocation: pending },
          standing: standingOf({ role: "invocation", step }),
        };
    }
  }

  function isAsleep(next: DeliveryKey): boolean {
    return next.role === "result" && doneBy(next.step, next).kind === "sleeping";
  }

  function delivered(by: DeliveryKey): Delivered & Pick<At, "standing"> {
    const progress = known.progress.get(partOf(by));
    return { by, standing: standingOf(by, progress), ...(progress && { progress }) };
  }

  function standingOf(key: PartKey, progress?: Progress): StepStatus {
    if (state.kind === "failed" && state.failure.at === partOf(key)) return "failed";
    if (state.kind !== "active") return "canceled";
    return progress && !isFinished(progress.state) && progress.retried > 0 ? "retried" : "open";
  }
}

const sequential = (step: StepStory): StoryGroup => ({ type: "sequential", steps: [step] });

const range = <Item>(from: number, to: number, make: (step: number) => Item): readonly Item[] =>
  Array.from({ length: to - from + 1 }, (_, i) => make(from + i));

/** Returns the delivery that continues the route, or has failed to. */
function nextDelivery(run: Run): DeliveryKey | undefined {
  const { state } = run;
  if (state.kind === "succeeded") return undefined;
  if (state.kind === "failed") {
    const failed = deliveryOf(state.failure.at);
    // Their step shows them.
    const isTold = failed?.role === "plan" || failed?.role === "answer";
    return isTold ? undefined : failed;
  }
  const [first] = openDeliveries(run);
  return first && first.role !== "plan" && state.pending.length === 0 ? first : undefined;
}

/** Returns the deliveries by which a run continues: open ones of its history, and calls. */
function openDeliveries(run: Run): readonly DeliveryKey[] {
  const entries = openEntries(run).map((key) =>
    key.role === "start" && run.adoption === "done" ? ({ role: "adopted" } as const) : key,
  );
  const calls = run.state.pending.flatMap((each) => (each.kind === "call" ? callKey(each) : []));
  return [...entries, ...calls];
}

/** Returns the deliveries that show how far a run is: open ones, or the one that reports its failure. */
export function deliveriesShown(run: Run): readonly PartName[] {
  if (run.state.kind === "active") return openDeliveries(run).map(partOf);
  const told = isFailed(run) ? run.state.failure.function : undefined;
  return told?.state === "running" ? [partOf({ role: "told", round: told.round })] : [];
}

export type MessageStory = {
  readonly name: PartName;
  readonly key: DeliveryKey;
  /** Absent if the message is under way, or its end is not known. */
  readonly end?: { readonly kind: "delivered" | "failed" | "canceled"; readonly at: number };
};

type Written = { readonly name: PartName; readonly at: number };

/**
 * Returns the messages that belong to the log of this run, and not to that of the failed run which it resumes. The effects of a message
 * prove that it was delivered, and show when (docs/workflows). `tried`: the messages with failed attempts.
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
