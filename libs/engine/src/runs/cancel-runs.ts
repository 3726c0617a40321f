/** Cancels the runs that match a filter, newest first, in short steps: a page of the list, and one write for each run. */
import {
  type ActiveRunFilter,
  type BulkEnd,
  type BulkPlace,
  type Run,
  type TenantId,
} from "@posthaste/domain";
import { type RunLog } from "@posthaste/ports";
import { type EndPorts, endRun } from "./end.ts";

export type CancelRunsPorts = EndPorts & { readonly runLog: Pick<RunLog, "list"> };

/** The number of active runs that a step looks at. */
const runsMax = 100;
/** The number of runs ended at the same time; their writes share syncs. */
const endedAtOnce = 25;

type Step = {
  readonly filter: ActiveRunFilter;
  /** Runs started after this end are not touched. Absent for all runs. */
  readonly upTo?: BulkEnd;
  readonly after: string | undefined;
  readonly countMax?: number;
};

/** Makes step after step, and begins none unless `mayBegin`. */
export async function* cancelRunsSteps(
  ports: CancelRunsPorts,
  tenant: TenantId,
  step: Step,
  mayBegin: () => boolean,
): AsyncGenerator<Stepped> {
  let { after } = step;
  while (mayBegin()) {
    const stepped = await cancelRunsStep(ports, tenant, { ...step, after });
    yield stepped;
    if (!stepped.next) return;
    after = stepped.next.after;
  }
}

type Stepped = { readonly count: number; readonly next?: BulkPlace };

/** Makes one step, and counts the runs that it cancelled. `next` is undefined after the last step. */
async function cancelRunsStep(
  ports: CancelRunsPorts,
  tenant: TenantId,
  { filter, upTo, after, countMax = runsMax }: Step,
): Promise<Stepped> {
  const to = Math.min(filter.to ?? Infinity, upTo?.at ?? Infinity);
  const { items, next } = await ports.runLog.list(
    tenant,
    { ...filter, ...(to < Infinity && { to }), states: ["active"] },
    { limit: Math.min(runsMax, countMax), ...(after !== undefined && { after }) },
  );
  const meant = items.filter(({ root }) => upTo === undefined || root <= upTo.id);
  const count = await cancelRuns(ports, meant);
  return { count, ...(next !== undefined && { next: { in: "runs", after: next } }) };
}

/** Cancels matching runs in one call, bounded in number and time. `isAll` is false when the time was up first. */
export async function cancelRunsMatching(
  ports: CancelRunsPorts,
  tenant: TenantId,
  { filter, countMax, until }: { filter: ActiveRunFilter; countMax: number; until: number },
): Promise<{ readonly count: number; readonly isAll: boolean }> {
  let count = 0;
  let after: string | undefined;
  while (count < countMax) {
    if (ports.clock.passedMs() >= until) return { count, isAll: false };
    const step = await cancelRunsStep(ports, tenant, { filter, after, countMax: countMax - count });
    count += step.count;
    if (!step.next) break;
    ({ after } = step.next);
  }
  return { count, isAll: true };
}

/** Cancels runs at the same time. Returns how many of them were active. */
async function cancelRuns(ports: EndPorts, runs: readonly Run[]): Promise<number> {
  let count = 0;
  for (let n = 0; n < runs.length; n += endedAtOnce) {
    const some = runs.slice(n, n + endedAtOnce);
    const ended = await Promise.all(
      some.map(({ tenant, id, createdAt }) => endRun(ports, { tenant, id, createdAt })),
    );
    count += ended.filter((each) => each === "now").length;
  }
  return count;
}
