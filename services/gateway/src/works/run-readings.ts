/** Runs with all that is shown of them: heads, parts, attempts and the progress of what is on its way. */
import {
  charsIn,
  deliveriesShown,
  type ReadView,
  type RunReading,
  shownAttempt,
  shownParts,
} from "@posthaste/contract";
import {
  type PartName,
  type Progress,
  type Run,
  runMessageId,
  type Sha256Hex,
  type TenantId,
} from "@posthaste/domain";
import { toItsEnd } from "@posthaste/http";
import { type Page, type Records, type RunLog, type RunStore } from "@posthaste/ports";
import { type Paging } from "../paging.ts";

export type RunLogParts = {
  readonly runs: RunStore;
  readonly runLog: RunLog;
  readonly records: Records;
  readonly paging: Paging;
  readonly sha256: Sha256Hex;
};

/** Read together: of each as many parts are in memory as are read at a time, and its attempts. */
export const runsPerRead = 4;
/** Of all that is shown in one page; then the page is short. */
export const pageCharsMax = 16 * 1024 * 1024;

export type Listed<Item> = {
  readonly items: readonly Item[];
  readonly cursor: string | undefined;
};

export type Asked = Parameters<RunLog["list"]>[2];
type Reading<R extends Run> = RunReading & { readonly run: R };

/** Runs with what is shown of them; a page is short rather than large. */
export async function readPage<R extends Run>(
  read: (runs: readonly R[]) => Promise<readonly Reading<R>[]>,
  page: Asked,
  list: (page: Asked) => Promise<Page<R>>,
): Promise<{ readonly readings: readonly Reading<R>[]; readonly next: string | undefined }> {
  const { items, next } = await list(page);
  const readings: Reading<R>[] = [];
  let chars = 0;
  // Bounded by the page's runs, and by what is shown of them.
  for (let from = 0; from < items.length; from += runsPerRead) {
    if (chars > pageCharsMax) {
      const short = await list({ ...page, limit: from });
      return { readings, next: short.next };
    }
    const some = await read(items.slice(from, from + runsPerRead));
    for (const reading of some) chars += charsOf(reading);
    readings.push(...some);
  }
  return { readings, next };
}

/** Of its parts and of its attempts. */
export const charsOf = ({ attempts, parts }: RunReading): number =>
  charsIn([...parts.values()]) + charsIn(attempts);

export async function readingsOf<R extends Run>(
  { records, runLog }: Pick<RunLogParts, "records" | "runLog">,
  tenant: TenantId,
  runs: readonly R[],
  view: ReadView,
): Promise<readonly Reading<R>[]> {
  const shown = runs.flatMap((run) =>
    deliveriesShown(run).map((name) => ({
      name,
      run,
      id: name === "start" ? run.root : runMessageId(run.root, name),
    })),
  );
  const [parts, attempts, found] = await Promise.all([
    Promise.all(runs.map((run) => partsOf(runLog, run, view))),
    Promise.all(runs.map((run) => attemptsOf(runLog, run, view))),
    shown.length === 0
      ? []
      : records.progress(
          tenant,
          shown.map(({ id }) => id),
        ),
  ]);
  const live = new Map<Run, Map<PartName, Progress>>();
  for (const [i, { name, run }] of shown.entries()) {
    const progress = found[i];
    if (!progress) continue;
    const own = live.get(run) ?? new Map<PartName, Progress>();
    live.set(run, own.set(name, progress));
  }
  return runs.map((run, i) => ({
    run,
    parts: parts[i] ?? new Map<PartName, never>(),
    progress: live.get(run) ?? new Map<PartName, Progress>(),
    attempts: attempts[i] ?? [],
  }));
}

async function partsOf(runLog: RunLog, run: Run, view: ReadView): Promise<RunReading["parts"]> {
  const { add, shown } = shownParts(run, view);
  let after: PartName | undefined = "";
  // Each turn begins behind the last part of the one before.
  while (after !== undefined) {
    const { next, parts } = await runLog.parts(run, after);
    for (const part of parts) await toItsEnd(add(part));
    after = next;
  }
  return shown;
}

const attemptsOf = async (runLog: RunLog, run: Run, view: ReadView) =>
  (await runLog.attempts(run)).map((attempt) => shownAttempt(run, attempt, view));
