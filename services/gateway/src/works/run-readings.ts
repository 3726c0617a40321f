/** Runs with all that is shown of them: heads, parts, attempts and the records of what is on its way. */
import { deliveriesShown, type RunReading } from "@posthaste/contract";
import {
  type MessageRecord,
  type PartName,
  type Run,
  runMessageId,
  type Sha256Hex,
  type TenantId,
} from "@posthaste/domain";
import { type Page, type Records, type RunLog, type RunStore } from "@posthaste/ports";
import { type Paging } from "../paging.ts";

export type RunLogParts = {
  readonly runs: RunStore;
  readonly runLog: RunLog;
  readonly records: Records;
  readonly paging: Paging;
  readonly sha256: Sha256Hex;
};

/** Read together. */
const runsPerRead = 10;
/** Of all parts of one page as they are read; then the page is short. */
const bytesReadMax = 32 * 1024 * 1024;

export type Listed<Item> = {
  readonly items: readonly Item[];
  readonly cursor: string | undefined;
};

export type Asked = Parameters<RunLog["list"]>[2];

/** Runs with what is shown of them; a page is short rather than large. */
export async function readPage<R extends Run>(
  parts: RunLogParts,
  tenant: TenantId,
  page: Asked,
  list: (page: Asked) => Promise<Page<R>>,
): Promise<{
  readonly readings: readonly (RunReading & { readonly run: R })[];
  readonly next: string | undefined;
}> {
  const { items, next } = await list(page);
  const readings: (RunReading & { readonly run: R })[] = [];
  let bytes = 0;
  // Bounded by the page's runs, and by its bytes.
  for (let from = 0; from < items.length; from += runsPerRead) {
    if (bytes > bytesReadMax) {
      const short = await list({ ...page, limit: from });
      return { readings, next: short.next };
    }
    const some = await readingsOf(parts, tenant, items.slice(from, from + runsPerRead));
    for (const reading of some) bytes += bytesOf(reading);
    readings.push(...some);
  }
  return { readings, next };
}

/** Of its parts and of the answers to its attempts. */
export function bytesOf({ attempts, parts }: RunReading): number {
  let bytes = 0;
  for (const { body } of parts.values()) bytes += body.length;
  for (const { fact } of attempts) bytes += fact.response?.body.length ?? 0;
  return bytes;
}

export async function readingsOf<R extends Run>(
  { records, runLog }: RunLogParts,
  tenant: TenantId,
  runs: readonly R[],
): Promise<readonly (RunReading & { readonly run: R })[]> {
  const shown = runs.flatMap((run) =>
    deliveriesShown(run).map((name) => ({
      name,
      run,
      id: name === "start" ? run.root : runMessageId(run.root, name),
    })),
  );
  const [parts, attempts, found] = await Promise.all([
    runLog.parts(runs),
    runLog.attempts(runs),
    shown.length === 0
      ? []
      : records.get(
          tenant,
          shown.map(({ id }) => id),
        ),
  ]);
  const live = new Map<Run, Map<PartName, MessageRecord>>();
  for (const [i, { name, run }] of shown.entries()) {
    const record = found[i];
    if (!record) continue;
    const own = live.get(run) ?? new Map<PartName, MessageRecord>();
    live.set(run, own.set(name, record));
  }
  return runs.map((run, i) => ({
    run,
    parts: new Map(parts[i]?.map((part) => [part.name, part])),
    records: live.get(run) ?? new Map<PartName, MessageRecord>(),
    attempts: attempts[i] ?? [],
  }));
}
