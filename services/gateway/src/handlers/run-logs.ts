/** `/v2/workflows/logs`, `/v2/workflows/events` and `/v2/workflows/dlq`: lists of runs (docs/workflows). */
import {
  failedRunJson,
  type FailedRunJson,
  type FailedRunQuery,
  type failedRuns,
  functionState,
  runEvents,
  runHeadJson,
  type RunJson,
  runJson,
  type RunLogQuery,
  type runLogs,
  type RunMessageQuery,
  runMessages,
  type RunReading,
  type ReadPermit,
} from "@posthaste/contract";
import {
  dlqId,
  fault,
  type Fault,
  isFault,
  type Run,
  type RunIn,
  type TenantId,
  withoutLetter,
} from "@posthaste/domain";
import { headIfChanged } from "@posthaste/ports";
import { cancelFunction, type RunPorts, restartFailureFunction } from "@posthaste/engine";
import { fitPage } from "../fit-page.ts";
import { type Reads } from "../reads.ts";
import { runEventPage } from "./run-events.ts";
import { type Listed, type Read, readingOf, type RunLogParts } from "./run-readings.ts";
import { type WithReadPermit, type Handlers } from "./handler.ts";

export const runLogHandlers = (
  parts: RunLogParts & RunPorts,
): Handlers<keyof typeof runLogs | keyof typeof failedRuns> => ({
  listRunLogs: async ({ tenant, query }) => {
    const read = runPage(parts, tenant.id, query, true);
    if (isFault(read)) return read;
    return answer(read, ({ cursor = "", items }) => ({ cursor, runs: items }));
  },
  listRunEvents: async ({ tenant, query }) => {
    const { events } = query;
    if (events) {
      const read = happened(parts, tenant.id, { ...query, events });
      if (isFault(read)) return read;
      return answer(read, ({ cursor, items }) => ({ ...given(cursor), events: items }));
    }
    const read = runPage(parts, tenant.id, query, false);
    if (isFault(read)) return read;
    return answer(read, ({ cursor, items }) => ({ ...given(cursor), runs: items }));
  },
  listRunMessages: async ({ tenant, query }) => {
    const read = messagesOfRuns(parts, tenant.id, query);
    if (isFault(read)) return read;
    return answer(read, ({ cursor = "", items }) => ({ cursor, events: items }));
  },
  listFailedRuns: async ({ tenant, query }) => {
    const read = failedRunPage(parts, tenant.id, query);
    if (isFault(read)) return read;
    return answer(read, ({ cursor = "", items }) => ({ cursor, messages: items }));
  },
  readFailedRun: async ({ tenant, param }) => ({
    status: 200,
    read: async (permit) => {
      const reads = parts.reads(permit);
      const run = await failedRun(reads, tenant.id, param("dlqId"));
      if (isFault(run)) return run;
      const view = { sha256: parts.sha256 };
      return { json: failedRunJson(await readingOf(reads, tenant.id, run, view), view) };
    },
  }),
  removeFailedRun: async ({ tenant, param, withPermit }) => {
    const id = param("dlqId");
    const run = await withPermit((permit) => failedRun(parts.reads(permit), tenant.id, id));
    if (isFault(run)) return run;
    return (await removed(parts, [run])) > 0 ? { status: 200 } : unknownFailedRun(id);
  },
  tellFailureAgain: async ({ tenant, param, withPermit }) => {
    const run = await withPermit((permit) =>
      failedRun(parts.reads(permit), tenant.id, param("dlqId")),
    );
    if (isFault(run)) return run;
    const refused = await restartFailureFunction(parts, run);
    if (refused) return refused;
    return { status: 200, json: { workflowRunId: run.id, workflowCreatedAt: run.createdAt } };
  },
  cancelFailureFunction: async ({ tenant, param, withPermit }) => {
    const run = await withPermit((permit) =>
      failedRun(parts.reads(permit), tenant.id, param("dlqId")),
    );
    if (isFault(run)) return run;
    return (await cancelFunction(parts, run))
      ? { status: 200 }
      : fault("malformed", "the failure function of the run is not running");
  },
  removeFailedRuns: async ({ tenant, query, withPermit }) => {
    const page = await failedPage(parts, tenant.id, query, withPermit);
    if (isFault(page)) return page;
    const deleted = await removed(parts, page.items);
    const { cursor } = page;
    return { status: 200, json: { deleted, ...(cursor !== undefined && { cursor }) } };
  },
});

const answer = <Item, Json>(
  read: Read<Item>,
  jsonOf: (page: Listed<Item>) => Json,
): {
  readonly status: 200;
  readonly read: (permit: ReadPermit) => Promise<{ readonly json: Json }>;
} => ({
  status: 200,
  read: async (permit) => ({ json: jsonOf(await read(permit)) }),
});

const given = (cursor: string | undefined) => ({ ...(cursor !== undefined && { cursor }) });

type Happened = RunLogQuery & { readonly events: { readonly state?: string } };

const happened = (parts: RunLogParts, tenant: TenantId, query: Happened) => {
  const { state } = query.events;
  return runEventPage(parts, tenant, {
    ...{ filter: query.filter, page: query.page, list: `run events ${state ?? ""}` },
    eventsOf: (reading, view) =>
      runEvents(reading, view).filter(({ event }) => state === undefined || event.state === state),
  });
};

const messagesOfRuns = (
  parts: RunLogParts,
  tenant: TenantId,
  { filter, messageIds, page, state }: RunMessageQuery,
) =>
  runEventPage(parts, tenant, {
    ...{ filter, page, list: `run messages ${state ?? ""} ${[...(messageIds ?? [])].join()}` },
    eventsOf: (reading, view) =>
      runMessages(reading, view).filter(
        ({ event }) =>
          (state === undefined || event.state === state) &&
          (!messageIds || messageIds.has(event.stepInfo?.messageId ?? "")),
      ),
  });

async function failedRun(
  { failedRuns }: Pick<Reads, "failedRuns">,
  tenant: TenantId,
  id: string,
): Promise<RunIn<"failed"> | Fault> {
  const { items } = await failedRuns(tenant, { dlqIds: [dlqId(id)] }, { limit: 1 });
  return items[0] ?? unknownFailedRun(id);
}

const unknownFailedRun = (id: string): Fault =>
  fault("not_found", `failed run ${id.slice(0, 128)} not found`);

/** Removes dead letters of runs. Returns how many existed until now. */
async function removed({ runs }: RunLogParts, failed: readonly Run[]): Promise<number> {
  let count = 0;
  for (const run of failed) {
    const isNow = await runs.change(run, (now) => headIfChanged(withoutLetter(now)));
    if (isNow) count += 1;
  }
  return count;
}

function runPage(
  parts: RunLogParts,
  tenant: TenantId,
  { filter, isRetried, page, withSteps }: RunLogQuery,
  withCaller: boolean,
): Read<RunJson> | Fault {
  const scope = { tenant, list: isRetried ? "retried runs" : "runs", filter };
  const opened = parts.paging.open(scope, page);
  if (isFault(opened)) return opened;
  const view = { sha256: parts.sha256, bodyBytesMax: page.bodyBytesMax };
  return async (permit) => {
    const reads = parts.reads(permit);
    // Only the deliveries of a run show whether it is retried.
    const show = async (run: Run): Promise<RunJson | undefined> => {
      if (!withSteps && !isRetried) return runHeadJson(run, withCaller);
      const reading = await readingOf(reads, tenant, run, view);
      if (isRetried && !hasRetry(reading)) return undefined;
      return withSteps ? runJson(reading, view, withCaller) : runHeadJson(run, withCaller);
    };
    const found = await reads.runs(tenant, opened.filter, opened.page);
    const { shown, next } = await fitPage(found, ([run]) => one(run, show), { atOnce: 1 });
    return { items: shown, cursor: parts.paging.seal(scope, opened, next) };
  };
}

const one = async <T, Json>(
  item: T | undefined,
  show: (item: T) => Promise<Json>,
): Promise<readonly Json[]> => (item === undefined ? [] : [await show(item)]);

const hasRetry = ({ progress }: RunReading): boolean =>
  [...progress.values()].some(({ retried }) => retried > 0);

/** Lists failed runs. `GET /v2/dlq?source=workflow` is the same list. */
export function failedRunPage(
  parts: RunLogParts,
  tenant: TenantId,
  query: FailedRunQuery,
): Read<FailedRunJson> | Fault {
  const opened = openFailed(parts, tenant, query);
  if (isFault(opened)) return opened;
  const view = { sha256: parts.sha256, bodyBytesMax: query.page.bodyBytesMax };
  return async (permit) => {
    const reads = parts.reads(permit);
    const show = async (run: RunIn<"failed">): Promise<FailedRunJson | undefined> =>
      isAsked(query, run)
        ? failedRunJson(await readingOf(reads, tenant, run, view), view)
        : undefined;
    const found = await reads.failedRuns(tenant, opened.filter, opened.page);
    const { shown, next } = await fitPage(found, ([run]) => one(run, show), { atOnce: 1 });
    return { items: shown, cursor: opened.cursorAt(next) };
  };
}

/** Reads one page of the failed runs that a query names, for a change of all of them. */
export async function failedPage(
  parts: RunLogParts,
  tenant: TenantId,
  query: FailedRunQuery,
  withPermit: WithReadPermit,
): Promise<Listed<RunIn<"failed">> | Fault> {
  const opened = openFailed(parts, tenant, query);
  if (isFault(opened)) return opened;
  const found = await withPermit((permit) =>
    parts.reads(permit).failedRuns(tenant, opened.filter, opened.page),
  );
  if (isFault(found)) return found;
  const { items, next } = found;
  return { items: items.filter((run) => isAsked(query, run)), cursor: opened.cursorAt(next) };
}

function openFailed(
  { paging }: RunLogParts,
  tenant: TenantId,
  { filter, functionStates, page }: FailedRunQuery,
) {
  const scope = { tenant, list: `failed runs ${functionStates?.join() ?? ""}`, filter };
  const opened = paging.open(scope, page);
  if (isFault(opened)) return opened;
  const cursorAt = (next: string | undefined) => paging.seal(scope, opened, next);
  return { ...opened, cursorAt };
}

function isAsked({ functionStates }: FailedRunQuery, run: RunIn<"failed">): boolean {
  const state = functionState(run);
  return !functionStates || (state !== undefined && functionStates.includes(state));
}
