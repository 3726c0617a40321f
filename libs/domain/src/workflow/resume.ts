/**
 * Resumes a failed run as a new run: finished steps stay finished, and exactly the work that the failed run was
 * waiting for is issued again (docs/design/runs#resuming).
 */
import { type MessageId, type RunId, type RunKey } from "../shared/ids.ts";
import { ringAheadMs, runAliasesMax } from "../shared/limits.ts";
import { keptEvents } from "./waits.ts";
import { pendingPart } from "./named-parts.ts";
import { isKeyOfLog, partKeyOf, partOf, type PartName } from "./part-key.ts";
import { type Pending, type Run, type RunIn, type RunPlan, type RunRef } from "./run.ts";

/**
 * Returns the parts that a resumed run needs of the failed one beside its entries. A wait's part is written anew, with its
 * new deadline.
 */
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

/**
 * Reports whether a part is only for the log, since its step is done. Parts of waiting steps are inherited or written anew.
 */
export function isOfLog({ state }: Run, name: PartName): boolean {
  const key = partKeyOf(name);
  return !!key && isKeyOfLog(key) && !state.pending.some(({ step }) => step === key.step);
}

/** The fields of a resumed run that it does not take from the failed one. */
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
  /** New deadlines of waits, by step. */
  readonly deadlines: ReadonlyMap<number, number>;
};

/**
 * Returns the resumed run. The run's alarm starts children that may not have been started; children that were started tell this
 * run of their end, too.
 */
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
    state: { kind: "active", pending, ...keptEvents(failed), ...(behind && { behind }) },
    // Names of parts contain the version, and the run has parts of the failed one.
    version: failed.version + 1,
  };
}

/** Reports whether `run` was made from `failed`, as when a resume is repeated under one name. */
export const isMadeOf = (run: Run, failed: Run): boolean => run.from === failed.key;
