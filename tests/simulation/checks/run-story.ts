/** A run as its checks read it: all of its writes in order, and everything sent for it. */
import {
  entriesBetween,
  type MessageId,
  partOf,
  type Run,
  type RunKey,
  runMessageId,
  type RunPart,
} from "@posthaste/domain";
import { type Program, readResult } from "../runs/program.ts";
import { type RunChange } from "../runs/seen.ts";
import { type Exchange, type History } from "../world/history.ts";

type Parts = ReadonlyMap<string, RunPart>;

export type Story = {
  readonly run: Run;
  readonly root: MessageId;
  readonly program: Program;
  readonly changes: readonly RunChange[];
  /** Including parts inherited from another run. */
  readonly parts: Parts;
  readonly own: Parts;
  readonly sent: (part: string) => readonly Exchange[];
};

export function storiesOf(history: History): readonly Story[] {
  const exchanges = Map.groupBy(history.exchanges, ({ id }) => id);
  return [...history.runs.changes.values()].flatMap((unordered) => {
    const changes = unordered.toSorted((a, b) => a.after.version - b.after.version);
    const run = changes.at(-1)?.after;
    const own = ownParts(changes);
    const parts = run ? partsOf(history, run.key) : own;
    const payload = parts.get("start");
    const said = payload && (JSON.parse(text(payload)) as { program: number });
    const program = said && history.runs.programs[said.program];
    if (!run || !program) {
      history.violate("R1", `${run?.key ?? "a run"} has no payload`);
      return [];
    }
    const sent = (part: string): readonly Exchange[] =>
      exchanges.get(runMessageId(run.root, part)) ?? [];
    return [{ run, root: run.root, program, changes, parts, own, sent }];
  });
}

const ownParts = (changes: readonly RunChange[]): Parts =>
  new Map(changes.flatMap(({ parts }) => parts).map((part) => [part.name, part]));

function partsOf(history: History, key: RunKey): Parts {
  const changes = history.runs.changes.get(key) ?? [];
  const start = changes.find(({ inherited }) => inherited);
  if (!start?.inherited) return ownParts(changes);
  const theirs = partsOf(history, start.inherited.of);
  const names = [...orderOf(start.after), ...start.inherited.names];
  const inherited = names.flatMap((name) => theirs.get(name) ?? []);
  return new Map([
    ...inherited.map((part) => [part.name, part] as const),
    ...ownParts(changes).entries(),
  ]);
}

export const isResumed = ({ changes }: Story): boolean => changes[0]?.inherited !== undefined;

export const text = ({ body }: Pick<RunPart, "body">): string => new TextDecoder().decode(body);

export const orderOf = ({ history }: Run): readonly string[] =>
  entriesBetween(history, 0, history.length - 1).map(partOf);

export const saidOf = ({ parts }: Pick<Story, "parts">, step: number): string | undefined => {
  const part = parts.get(`s${step}`);
  return part && readResult(part.body);
};

export const stepOf = (part: string): number => Number(part.slice(1));

/** Reports whether the head shows that the effect of the delivery has been accepted. */
export function hasCaused(program: Program, run: Run, part: string): boolean {
  const order = orderOf(run);
  const pending = run.state.kind === "active" ? run.state.pending : [];
  const reaches = (step: number): boolean =>
    order.some((name) => name !== "start" && stepOf(name) > step) ||
    pending.some((each) => each.step > step);
  if (part === "start") return reaches(0) || run.adoption === "done";
  if (part === "adopted") return reaches(0);
  const step = stepOf(part);
  switch (part.charAt(0)) {
    case "p":
      return order.includes(`s${step}`) || pending.some((each) => each.step === step);
    case "s":
      return reaches(groupEndIn(program, step));
    case "a":
      return order.includes(`s${step}`);
    default:
      return !pending.some(
        (each) => each.kind === "call" && each.step === step && !each.isAnswered,
      );
  }
}

const groupEndIn = ({ parts }: Program, step: number): number => {
  const group = parts.find(({ from, steps }) => from <= step && step < from + steps.length);
  return group ? group.from + group.steps.length - 1 : step;
};

export const endOf = ({ changes }: Story): RunChange | undefined =>
  changes.find(({ after }) => after.state.kind !== "active");
