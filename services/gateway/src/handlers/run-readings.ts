/** Runs with everything that is shown of them: heads, parts, attempts, and the progress of deliveries under way. */
import {
  type ReadView,
  type RunReading,
  type ReadPermit,
  shownAttempt,
  shownParts,
} from "@posthaste/contract";
import {
  deliveriesShown,
  type PartName,
  type Progress,
  type Run,
  runMessageId,
  type Sha256Hex,
  type TenantId,
} from "@posthaste/domain";
import { runToEnd } from "@posthaste/http";
import { type RunStore } from "@posthaste/ports";
import { type Paging } from "../paging.ts";
import { type Reads, type ReadsIn } from "../reads.ts";

export type RunLogParts = {
  readonly runs: RunStore;
  readonly reads: ReadsIn;
  readonly paging: Paging;
  readonly sha256: Sha256Hex;
};

/** The number of heads read together. With everything that is shown of it, one run is read at a time. */
export const runsPerRead = 4;

export type Listed<Item> = {
  readonly items: readonly Item[];
  readonly cursor: string | undefined;
};

export type Read<Item> = (permit: ReadPermit) => Promise<Listed<Item>>;

type Reading<R extends Run> = RunReading & { readonly run: R };
type RunReads = Pick<Reads, "attempts" | "parts" | "progress">;

export async function readingOf<R extends Run>(
  reads: RunReads,
  tenant: TenantId,
  run: R,
  view: ReadView,
): Promise<Reading<R>> {
  const names = deliveriesShown(run);
  const ids = names.map((name) => (name === "start" ? run.root : runMessageId(run.root, name)));
  // An attempt is reported once its delivery has changed, so progress that is read later is no older than the attempts.
  const attemptsAndProgress = async () => {
    const attempts = await attemptsOf(reads, run, view);
    return [attempts, ids.length === 0 ? [] : await reads.progress(tenant, ids)] as const;
  };
  const [parts, [attempts, found]] = await Promise.all([
    partsOf(reads, run, view),
    attemptsAndProgress(),
  ]);
  const progress = new Map<PartName, Progress>();
  for (const [i, name] of names.entries()) {
    const own = found[i];
    if (own) progress.set(name, own);
  }
  return { run, parts, progress, attempts };
}

async function partsOf(reads: RunReads, run: Run, view: ReadView): Promise<RunReading["parts"]> {
  const { add, shown } = shownParts(run, view);
  let after: PartName | undefined = "";
  // Each turn begins after the last part of the one before.
  while (after !== undefined) {
    const { next, parts } = await reads.parts(run, after);
    for (const part of parts) await runToEnd(add(part));
    after = next;
  }
  return shown;
}

const attemptsOf = async (reads: RunReads, run: Run, view: ReadView) =>
  (await reads.attempts(run)).map((attempt) => shownAttempt(run, attempt, view));
