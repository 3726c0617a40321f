/**
 * Waits of a run: for events from outside, and for runs that it starts, which report their ends to its steps. An event
 * that comes before its wait is noted. Events of callers and events of webhooks are of two kinds: neither ends the wait
 * of the other, and each kind has its own bounds.
 */
import { type MessageId } from "../shared/ids.ts";
import {
  runHookNoteBytesMax,
  runHookNotesMax,
  runHooksMax,
  runNotesMax,
  runNotesOfEventMax,
  runHeirsMax,
} from "../shared/limits.ts";
import {
  changedRun,
  type EventWay,
  isActive,
  isFailed,
  type Note,
  type Pending,
  type Run,
  type RunIn,
  type Invoker,
} from "./run.ts";

export type Wait = Extract<Pending, { kind: "wait" }>;

const waitsOf = ({ state }: Run): readonly Wait[] =>
  state.kind === "active" ? state.pending.filter((each) => each.kind === "wait") : [];

const isOfWay = ({ by }: { readonly by?: EventWay }, way: EventWay): boolean =>
  by === undefined || by === way;

/** Returns the waits that an event ends if it comes by `way`; without `way`, all waits for the event. */
export const waitsFor = (run: Run, event: string, way?: EventWay): readonly Wait[] =>
  waitsOf(run).filter((wait) => wait.event === event && (!way || isOfWay(wait, way)));

export const overdueWaits = (run: Run, now: number): readonly Wait[] =>
  waitsOf(run).filter(({ deadline }) => deadline <= now);

/** Returns the alarm of a run: the earliest deadline of its waits, and of its duties to other runs. */
export function wakeAtOf(run: Run): number | undefined {
  const { state } = run;
  const times =
    state.kind === "active"
      ? state.pending.flatMap((each) => deadlineOf(each) ?? [])
      : [state.answerBy, state.dropBy].filter((time) => time !== undefined);
  return times.reduce<number | undefined>(
    (first, time) => (first === undefined || time < first ? time : first),
    undefined,
  );
}

function deadlineOf(pending: Pending): number | undefined {
  switch (pending.kind) {
    case "call":
      return undefined;
    case "wait":
      return pending.deadline;
    case "invoke":
      return pending.startBy;
  }
}

export const awaitedEvents = (run: Run): readonly string[] => [
  ...new Set(waitsOf(run).map(({ event }) => event)),
];

/** Returns the oldest note that ends such a wait: events are taken in the order in which they came. */
export const oldestNote = ({ state }: Run, event: string, way: EventWay): Note | undefined =>
  state.kind === "active"
    ? state.notes.find((note) => note.event === event && isOfWay(note, way))
    : undefined;

/** A run that keeps events: an active run for its next waits, a failed one for the run that may resume it. */
export type EventKeeper = RunIn<"active"> | RunIn<"failed">;

export const keepsEvents = (run: Run): run is EventKeeper =>
  isActive(run) || (isFailed(run) && run.state.failure.inDlq);

/** Keeps an event that nothing waits for yet. Returns undefined if there are too many. */
export function noted<R extends EventKeeper>(run: R, note: Note): R | undefined {
  const { notes } = run.state;
  if (isCrowded(notes, note)) return undefined;
  return changedRun({ ...run, state: { ...run.state, notes: [...notes, note] } });
}

/** Events of webhooks cannot crowd out events of callers. */
function isCrowded(notes: readonly Note[], { by = "told", bytes = 0, event }: Note): boolean {
  const alike = notes.filter((note) => (note.by ?? "told") === by);
  if (by === "told")
    return (
      alike.length >= runNotesMax ||
      alike.filter((note) => note.event === event).length >= runNotesOfEventMax
    );
  const held = alike.reduce((sum, note) => sum + (note.bytes ?? 0), bytes);
  return alike.length >= runHookNotesMax || held > runHookNoteBytesMax;
}

export const withoutNote = <R extends EventKeeper>(run: R, part: string): R => ({
  ...run,
  state: { ...run.state, notes: run.state.notes.filter((note) => note.part !== part) },
});

export function withHooks(run: RunIn<"active">, events: readonly string[]): RunIn<"active"> {
  const { hooks } = run.state;
  const fresh = events.filter((event) => !hooks?.includes(event));
  if (!hooks || fresh.length === 0) return run;
  const latest = [...hooks, ...fresh].slice(-runHooksMax);
  return { ...run, state: { ...run.state, hooks: latest } };
}

export const hasHook = (run: Run, event: string): boolean =>
  keepsEvents(run) && (run.state.hooks?.includes(event) ?? true);

/** Returns the events that have come for a run, and may come, for it or for the run that resumes it. */
export const keptEvents = ({ state: { hooks, notes } }: EventKeeper) => ({
  notes,
  ...(hooks && { hooks }),
});

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
