/**
 * A failed run gone on with, as a run of its own: what was done is done, and exactly what carried the failed one is issued
 * again (docs/design/runs#resuming).
 */
import { type MessageId, type RunId, type RunKey } from "../shared/ids.ts";
import { ringAheadMs, runAliasesMax } from "../shared/limits.ts";
import { partOf } from "./delivery.ts";
import { eventsOf } from "./waits.ts";
import { pendingPart } from "./named-parts.ts";
import {
  type PartName,
  type Pending,
  type Run,
  type RunIn,
  type RunPlan,
  type RunRef,
} from "./run.ts";

/** What a resumed run needs of the failed one beside its entries. A wait's part is written anew, with its new deadline. */
export function inheritedParts({ state }: RunIn<"failed">): readonly PartName[] {
  return [...state.pending.flatMap(partsOfPending), ...state.notes.map(({ part }) => part)];
}

function partsOfPending({ kind, step, ...rest }: Pending): readonly PartName[] {
  switch (kind) {
    case "wait":
      return [];
    case "invoke":
      return [pendingPart({ kind, step })];
    case "call": {
      const call = partOf({ role: "call", step });
      const isAnswered = "isAnswered" in rest && rest.isAnswered;
      return isAnswered ? [call, partOf({ role: "answer", step })] : [call];
    }
  }
}

/** Of calls, waits and invocations what a log tells beside their results. */
export const lettersOfLog = ["c", "i", "v", "w"] as const;

/** Of a step that is done: those of one that waits are inherited by their names, or made anew. */
export const isOfLog = ({ state }: Run, name: PartName): boolean =>
  lettersOfLog.some((letter) => name.startsWith(letter)) &&
  /^.[1-9]/.test(name) &&
  !state.pending.some(({ step }) => step === Number(name.slice(1)));

/** What is new about the run that goes on. */
export type NewUse = {
  readonly key: RunKey;
  readonly id: RunId;
  readonly generation: number;
  readonly root: MessageId;
  readonly shard: number;
  readonly callerIp: string;
  readonly createdAt: number;
  readonly plan: RunPlan;
  readonly behind?: RunRef;
  /** Of its waits, by step. */
  readonly deadlines: ReadonlyMap<number, number>;
};

/** Children that may not have been started are started by the alarm; those that were tell this run of their end, too. */
export function resumedRun(
  failed: RunIn<"failed">,
  { behind, deadlines, ...use }: NewUse,
  now: number,
): RunIn<"active"> {
  const { aliases = [], bytes, dialect, history, id, key, marks } = failed;
  const { reached, state, tenant, url } = failed;
  const pending = state.pending.map((each): Pending => {
    switch (each.kind) {
      case "call":
        return each;
      case "wait":
        return { ...each, deadline: deadlines.get(each.step) ?? each.deadline };
      case "invoke": {
        const { isLogged: _, ...invocation } = each;
        return { ...invocation, startBy: now + ringAheadMs };
      }
    }
  });
  return {
    ...{ tenant, dialect, url, history, bytes, reached },
    ...(marks && { marks }),
    ...use,
    from: key,
    aliases: [id, ...aliases.filter((alias) => alias !== id)].slice(0, runAliasesMax),
    state: { kind: "active", pending, ...eventsOf(failed), ...(behind && { behind }) },
    // Names are made of it, and the run has those of the failed one.
    version: failed.version + 1,
  };
}

/** A new run that was made of a failed one: asked for twice under one name, it is the same. */
export const isMadeOf = (run: Run, failed: Run): boolean => run.from === failed.key;
