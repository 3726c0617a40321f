/** What a run waits for that comes from outside: events. One that comes for a run before its wait is noted. */
import { runNotesMax, runNotesOfEventMax } from "../shared/limits.ts";
import { changedRun, type Note, type Pending, type Run, type RunIn } from "./run.ts";

export type Wait = Extract<Pending, { kind: "wait" }>;

const waitsOf = ({ state }: Run): readonly Wait[] =>
  state.kind === "active" ? state.pending.filter((each) => each.kind === "wait") : [];

export const waitsFor = (run: Run, event: string): readonly Wait[] =>
  waitsOf(run).filter((wait) => wait.event === event);

/** Past their deadline. */
export const overdueWaits = (run: Run, now: number): readonly Wait[] =>
  waitsOf(run).filter(({ deadline }) => deadline <= now);

/** The alarm of a run: the earliest deadline of its waits, and of what it owes other runs. */
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

/** Each once. */
export const awaitedEvents = (run: Run): readonly string[] => [
  ...new Set(waitsOf(run).map(({ event }) => event)),
];

/** Events are taken in the order in which they came. */
export const oldestNote = ({ state }: Run, event: string): Note | undefined =>
  state.kind === "active" ? state.notes.find((note) => note.event === event) : undefined;

/** An event that nothing waits for yet. Undefined: there are too many. */
export function noted(run: RunIn<"active">, note: Note): RunIn<"active"> | undefined {
  const { notes } = run.state;
  const alike = notes.filter(({ event }) => event === note.event).length;
  if (notes.length >= runNotesMax || alike >= runNotesOfEventMax) return undefined;
  return changedRun({ ...run, state: { ...run.state, notes: [...notes, note] } });
}

/** Part of a change that goes on. */
export const withoutNote = (run: RunIn<"active">, part: string): RunIn<"active"> => ({
  ...run,
  state: { ...run.state, notes: run.state.notes.filter((note) => note.part !== part) },
});
