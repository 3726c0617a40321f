/** The changes of a run's head, each a pure decision over the present head (docs/design/runs#changes). */
import { type InRun } from "../message/message.ts";
import { dlqIdOf, runMessageId, type MessageId } from "../shared/ids.ts";
import { ringAheadMs, runGroupMax, runStepsMax } from "../shared/limits.ts";
import { elapsedMs } from "../shared/time.ts";
import { leftOpen } from "./open-entries.ts";
import {
  type DeliveryKey,
  extended,
  groupEnd,
  has,
  rankIn,
  type StepKey,
  entriesBetween,
} from "./order.ts";
import { isDelivery, isEntry, partKeyOf, partOf, type PartName } from "./part-key.ts";
import {
  changedRun,
  isActive,
  type Pending,
  type Run,
  type RunFailure,
  type RunIn,
  type RunState,
  type FailureFunction,
  type RunRef,
} from "./run.ts";
import { keptEvents } from "./waits.ts";

export type Appended =
  /** `fresh`: the entries that the run did not have yet, in their order. */
  | { readonly kind: "appended"; readonly run: RunIn<"active">; readonly fresh: readonly StepKey[] }
  | { readonly kind: "refused"; readonly text: string };

/** Accepts all of `keys` that the run does not have yet, or none. The first entry of each key wins. */
export function append(run: RunIn<"active">, keys: readonly StepKey[]): Appended {
  const { fresh, reached } = unknownOf(run, keys);
  if (reached > runStepsMax) return refused(`a run may have at most ${runStepsMax} steps`);
  if (fresh.filter(({ role }) => role === "plan").length > runGroupMax)
    return refused(`a parallel group may have at most ${runGroupMax} steps`);
  if (fresh.length === 0) return { kind: "appended", run, fresh };
  const history = extended(run.history, fresh);
  const done = new Set(fresh.filter(({ role }) => role === "result").map(({ step }) => step));
  const state = {
    ...run.state,
    pending: run.state.pending.filter(({ step }) => !done.has(step)),
  };
  return { kind: "appended", run: changedRun({ ...run, state, history, reached }), fresh };
}

function unknownOf(
  { history, reached }: Run,
  keys: readonly StepKey[],
): { readonly fresh: readonly StepKey[]; readonly reached: number } {
  const fresh: StepKey[] = [];
  const seen = new Set<PartName>();
  for (const key of keys) {
    const name = partOf(key);
    if (seen.has(name) || has(history, key)) continue;
    seen.add(name);
    fresh.push(key);
  }
  return { fresh, reached: fresh.reduce((most, { step }) => Math.max(most, step), reached) };
}

/**
 * Marks that the endpoint of a run started in two phases has started it. Returns undefined if that was marked before,
 * or the endpoint was not asked.
 */
export const adopt = (run: RunIn<"active">): RunIn<"active"> | undefined =>
  run.adoption === "awaited" ? changedRun({ ...run, adoption: "done" }) : undefined;

/** Lets a step wait for something other than a delivery. Returns undefined if the step waits already, or is done. */
export function awaiting(run: RunIn<"active">, pending: Pending): RunIn<"active"> | undefined {
  const { history, state } = run;
  const { step } = pending;
  if (state.pending.some((each) => each.step === step)) return undefined;
  if (has(history, { role: "result", step })) return undefined;
  return changedRun({
    ...run,
    state: { ...state, pending: [...state.pending, pending] },
    reached: Math.max(run.reached, step),
  });
}

/** Marks that the call of a step has ended. Returns undefined if that was marked before, the step is done, or the run has ended. */
export function callAnswered(run: Run, step: number): RunIn<"active"> | undefined {
  if (!isActive(run)) return undefined;
  const { pending } = run.state;
  if (!pending.some((each) => isOpenCall(each, step))) return undefined;
  const answered = pending.map((each) =>
    isOpenCall(each, step) ? { ...each, isAnswered: true } : each,
  );
  return changedRun({ ...run, state: { ...run.state, pending: answered } });
}

const isOpenCall = (pending: Pending, step: number): boolean =>
  pending.kind === "call" && pending.step === step && !pending.isAnswered;

const refused = (text: string): Appended => ({ kind: "refused", text });

/** Reports whether a publish that the delivery causes has been accepted. The delivery has then succeeded, whatever its answer. */
export function hasTakenEffect(run: Run, key: DeliveryKey): boolean {
  const { history, reached, state } = run;
  switch (key.role) {
    case "start":
      return reached > 0 || run.adoption === "done";
    case "adopted":
      return reached > 0;
    case "plan":
      return has(history, { role: "result", step: key.step }) || isPending(state, key.step);
    case "call":
      return !(state.kind === "active" && state.pending.some((each) => isOpenCall(each, key.step)));
    case "answer":
      return has(history, { role: "result", step: key.step });
    case "result":
      return reached > groupEnd(history, key.step);
  }
}

const isPending = (state: RunState, step: number): boolean =>
  state.kind === "active" && state.pending.some((each) => each.step === step);

/** Ends a run, by one write. The end of a run never changes. */
export const finish = (run: RunIn<"active">, now: number): RunIn<"succeeded" | "canceled"> =>
  leaving(changedRun({ ...run, state: { kind: "succeeded", ...ended(run, now) } }));

export const cancelRun = (run: RunIn<"active">, now: number): RunIn<"succeeded" | "canceled"> =>
  leaving(changedRun({ ...run, state: { kind: "canceled", ...ended(run, now) } }));

/** Fails a run. Returns undefined if the run has ended, or is past the delivery that failed. */
export function failRun(
  run: Run,
  key: DeliveryKey,
  failure: Omit<RunFailure, "dlqId" | "at" | "inDlq">,
  now: number,
): RunIn<"failed"> | undefined {
  if (!isActive(run) || hasTakenEffect(run, key)) return undefined;
  const dlqId = dlqIdOf(run.root, now);
  const state = {
    kind: "failed",
    ...ended(run, now),
    failure: { ...failure, dlqId, at: partOf(key), inDlq: true },
    ...keptEvents(run),
  } as const;
  return leaving(changedRun({ ...run, state }));
}

const ended = ({ heirs, invoker, state: { pending } }: RunIn<"active">, now: number) => ({
  endedAt: now,
  pending,
  ...((invoker || heirs) && { answerBy: now + ringAheadMs }),
});

/**
 * Sets when the open deliveries of an ended run are dropped: even if the process that ends the run dies, none
 * of its messages stays in a line or waits for a time.
 */
const leaving = <S extends Exclude<RunState, { kind: "active" }>>(run: Run<S>): Run<S> =>
  leftOpen(run).length === 0
    ? run
    : { ...run, state: { ...run.state, dropBy: run.state.endedAt + ringAheadMs } };

export const owesDrop = ({ state }: Run): boolean =>
  state.kind !== "active" && state.dropBy !== undefined;

/** Marks that the open deliveries are dropped. Returns undefined if that was marked before. */
export function leftDropped(run: Run): Run | undefined {
  if (run.state.kind === "active" || run.state.dropBy === undefined) return undefined;
  const { dropBy: _, ...state } = run.state;
  return changedRun({ ...run, state });
}

/** Reports whether a claimed delivery is still wanted, and for an entry the rank up to which it carries the history. */
export function wantedOf(
  run: Run | undefined,
  { part, root }: Pick<InRun, "part" | "root">,
  epoch: number,
): "unwanted" | "wanted" | { readonly rank: number } {
  const key = partKeyOf(part);
  if (key?.role === "told") return isTelling(run, key.round) ? "wanted" : "unwanted";
  if (!run || run.root !== root || !isActive(run) || !key || !isDelivery(key)) return "unwanted";
  // The first attempt is always made, since clients count the requests they get.
  if (epoch > 1 && hasTakenEffect(run, key)) return "unwanted";
  if (!isEntry(key)) return "wanted";
  const rank = rankIn(run.history, key);
  return rank === undefined ? "unwanted" : { rank };
}

/** Returns the bytes that an entry adds to a delivery: its body in base64, and the JSON around it. */
export const bytesOfEntry = ({ length }: Uint8Array): number =>
  Math.ceil(length / 3) * 4 + aroundEntryBytes;

const aroundEntryBytes = 128;

/** Removes a run's dead letter and keeps the rest of the run. Returns undefined if the run has none. */
export function withoutLetter(run: Run): RunIn<"failed"> | undefined {
  const { state } = run;
  if (state.kind !== "failed" || !state.failure.inDlq) return undefined;
  return changedRun({ ...run, state: { ...state, failure: { ...state.failure, inDlq: false } } });
}

/**
 * Reports whether the failure function is called in that round. A run that fails begins the first round; the caller may ask for
 * another one after a round that has not succeeded. A round ends once.
 */
export const isTelling = (run: Run | undefined, round: number): boolean =>
  run?.state.kind === "failed" &&
  run.state.failure.function?.state === "running" &&
  run.state.failure.function.round === round;

/** Ends a round. Returns undefined if that round has ended, or another one runs. */
export const functionEnded = (
  run: Run,
  round: number,
  state: "succeeded" | "failed",
): RunIn<"failed"> | undefined =>
  isTelling(run, round) ? withFunction(run, { state }) : undefined;

/** Cancels the running round. Returns undefined if none is running. */
export const functionCanceled = (run: Run): RunIn<"failed"> | undefined =>
  run.state.kind === "failed" && run.state.failure.function?.state === "running"
    ? withFunction(run, { state: "canceled" })
    : undefined;

/** Begins the next round. Returns undefined if there is no failure function, or it is running or has succeeded. */
export function functionAgain(run: Run): RunIn<"failed"> | undefined {
  if (run.state.kind !== "failed") return undefined;
  const { function: before } = run.state.failure;
  if (!before || before.state === "running" || before.state === "succeeded") return undefined;
  return withFunction(run, { state: "running", round: before.round + 1 });
}

function withFunction(run: Run, changed: Partial<FailureFunction>): RunIn<"failed"> | undefined {
  const { state } = run;
  if (state.kind !== "failed" || !state.failure.function) return undefined;
  const failure = { ...state.failure, function: { ...state.failure.function, ...changed } };
  return changedRun({ ...run, state: { ...state, failure } });
}

/**
 * Returns the use behind which a run that starts now is held; undefined if no delivery of that use can be under way. Endpoints name a run
 * by its id alone, so their publishes belong to the previous use while one is (docs/design/runs#starting).
 */
export function heldBehind(before: Run | undefined, now: number): RunRef | undefined {
  if (!before || before.state.kind === "active") return undefined;
  const { key, plan, root, state } = before;
  const { timeoutMs } = plan.policy;
  // Also applies if the clock that ended the use was ahead: a run that is held in vain continues at the first look at the claims.
  return elapsedMs(state.endedAt, timeoutMs, now) < timeoutMs ? { key, root } : undefined;
}

/** Reports whether nothing of a run has been delivered yet: requests that name its id alone belong to the previous use. */
export const isHeld = (run: Run): run is RunIn<"active"> =>
  isActive(run) && run.state.behind !== undefined;

/** Returns the run with its deliveries begun; undefined if they had begun, or the run has ended. */
export function released(run: Run): RunIn<"active"> | undefined {
  if (!isHeld(run)) return undefined;
  const { behind: _, ...state } = run.state;
  return changedRun({ ...run, state });
}

/** Returns the ids of the messages by which a run's endpoint was called: while one is under way the endpoint may publish for the run. */
export function askedBy({ history, root, state }: Run): readonly MessageId[] {
  const entries = entriesBetween(history, 0, history.length - 1).map(partOf);
  const steps = state.pending.flatMap((each) => (each.kind === "call" ? each.step : []));
  const answers = steps.map((step) => partOf({ role: "answer", step }));
  return [...entries, "adopted", ...answers].map((part) => runMessageId(root, part));
}
