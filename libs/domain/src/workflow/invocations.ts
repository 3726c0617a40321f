/** Runs that start runs: the step waits for the end of the child, and the child reports its end to the step. */
import { type MessageId } from "../shared/ids.ts";
import { runHeirsMax } from "../shared/limits.ts";
import { changedRun, type Invoker, isActive, type Pending, type Run, type RunIn } from "./run.ts";

type Invocation = Extract<Pending, { kind: "invoke" }>;

const invocationsOf = ({ state }: Run): readonly Invocation[] =>
  state.kind === "active" ? state.pending.filter((each) => each.kind === "invoke") : [];

export const invocationOf = (run: Run, step: number): Invocation | undefined =>
  invocationsOf(run).find((each) => each.step === step);

/** Returns the invocations whose child should have been started by now. */
export const overdueStarts = (run: Run, now: number): readonly Invocation[] =>
  invocationsOf(run).filter(({ startBy = Infinity }) => startBy <= now);

/** Searches runs that have ended, too. */
const pendingInvocation = ({ state }: Run, step: number): Invocation | undefined =>
  state.pending.filter((each) => each.kind === "invoke").find((each) => each.step === step);

/** Reports whether it is not known yet that the child of a step has started. */
export const isStarting = (run: Run, step: number): boolean =>
  pendingInvocation(run, step)?.startBy !== undefined;

/** Marks the child as started. Returns undefined if nothing waits for that. */
export function startedInvocation(run: Run, step: number): RunIn<"active"> | undefined {
  if (!isActive(run) || invocationOf(run, step)?.startBy === undefined) return undefined;
  const pending = run.state.pending.map((each) => {
    if (each.kind !== "invoke" || each.step !== step) return each;
    const { startBy: _, ...started } = each;
    return started;
  });
  return changedRun({ ...run, state: { ...run.state, pending } });
}

/** Returns the run if it waits for the end of that child. */
export const settledInvocation = (
  run: Run,
  step: number,
  childRoot: MessageId,
): RunIn<"active"> | undefined =>
  isActive(run) && invocationOf(run, step)?.childRoot === childRoot ? run : undefined;

/** Marks that an ended run has the child's end for its log, once, without an entry. Returns undefined if the run needs it no longer. */
export function loggedInvocation(run: Run, step: number, childRoot: MessageId): Run | undefined {
  const { state } = run;
  const awaited = pendingInvocation(run, step);
  if (state.kind === "active" || awaited?.childRoot !== childRoot || awaited.isLogged)
    return undefined;
  const logged = { ...awaited, isLogged: true } as const;
  const pending = state.pending.map((each) => (each === awaited ? logged : each));
  return changedRun({ ...run, state: { ...state, pending } });
}

export const invokersOf = ({ heirs = [], invoker }: Run): readonly Invoker[] =>
  invoker ? [invoker, ...heirs] : heirs;

export const hasInvoker = (run: Run, { key, step }: Invoker): boolean =>
  invokersOf(run).some((invoker) => invoker.key === key && invoker.step === step);

/** Adds an invoker that waits for the end of the run. Returns undefined if there are `runHeirsMax` already. */
export function withHeir(run: RunIn<"active">, heir: Invoker): RunIn<"active"> | undefined {
  const { heirs = [] } = run;
  return heirs.length < runHeirsMax ? changedRun({ ...run, heirs: [...heirs, heir] }) : undefined;
}

export const owesAnswer = ({ state }: Run): boolean =>
  state.kind !== "active" && state.answerBy !== undefined;

/** Marks that the invokers know of the end. Returns undefined if that was marked before. */
export function invokersTold(run: Run): Run | undefined {
  if (run.state.kind === "active" || run.state.answerBy === undefined) return undefined;
  const { answerBy: _, ...state } = run.state;
  return changedRun({ ...run, state });
}
