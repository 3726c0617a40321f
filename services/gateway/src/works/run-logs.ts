/** `/v2/workflows/logs`, `/v2/workflows/events`, `/v2/workflows/dlq`: runs as they are listed (docs/workflows). */
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
import { cancelFunction, type RunPorts, tellAgain } from "@posthaste/engine";
import { type RunLog, type RunPage } from "@posthaste/ports";
import { runEventPage } from "./run-events.ts";
import { type Asked, type Listed, readingsOf, readPage, type RunLogParts } from "./run-readings.ts";
import { type Works } from "./work.ts";

export const runLogWorks = (
  parts: RunLogParts & RunPorts,
): Works<keyof typeof runLogs | keyof typeof failedRuns> => ({
  listRunLogs: async ({ tenant, query }) => {
    const page = await runPage(parts, tenant.id, query, true);
    if (isFault(page)) return page;
    return { status: 200, json: { cursor: page.cursor ?? "", runs: page.items } };
  },
  listRunEvents: async ({ tenant, query }) => {
    const { events } = query;
    if (events) return eventsAnswer(await happened(parts, tenant.id, { ...query, events }));
    const page = await runPage(parts, tenant.id, query, false);
    if (isFault(page)) return page;
    const { cursor, items } = page;
    return { status: 200, json: { ...(cursor !== undefined && { cursor }), runs: items } };
  },
  listRunMessages: async ({ tenant, query }) => {
    const page = await messagesOfRuns(parts, tenant.id, query);
    if (isFault(page)) return page;
    return { status: 200, json: { cursor: page.cursor ?? "", events: page.items } };
  },
  listFailedRuns: async ({ tenant, query }) => {
    const page = await failedRunPage(parts, tenant.id, query);
    if (isFault(page)) return page;
    return { status: 200, json: { cursor: page.cursor ?? "", messages: page.items } };
  },
  readFailedRun: async ({ tenant, param }) => {
    const run = await failedRun(parts, tenant.id, param("dlqId"));
    if (isFault(run)) return run;
    const view = { sha256: parts.sha256 };
    const [reading] = await readingsOf(parts, tenant.id, [run], view);
    if (!reading) throw new Error("a run that was read has a reading");
    return { status: 200, json: failedRunJson(reading, view) };
  },
  removeFailedRun: async ({ tenant, param }) => {
    const id = param("dlqId");
    const run = await failedRun(parts, tenant.id, id);
    if (isFault(run)) return run;
    return (await removed(parts, [run])) > 0 ? { status: 200 } : unknownFailedRun(id);
  },
  tellFailureAgain: async ({ tenant, param }) => {
    const run = await failedRun(parts, tenant.id, param("dlqId"));
    if (isFault(run)) return run;
    const refused = await tellAgain(parts, run);
    if (refused) return refused;
    return { status: 200, json: { workflowRunId: run.id, workflowCreatedAt: run.createdAt } };
  },
  cancelFailureFunction: async ({ tenant, param }) => {
    const run = await failedRun(parts, tenant.id, param("dlqId"));
    if (isFault(run)) return run;
    return (await cancelFunction(parts, run))
      ? { status: 200 }
      : fault("malformed", "the failure function of the run is not under way");
  },
  removeFailedRuns: async ({ tenant, query }) => {
    const page = await failedPage(parts, tenant.id, query);
    if (isFault(page)) return page;
    const deleted = await removed(parts, page.items);
    const { cursor } = page;
    return { status: 200, json: { deleted, ...(cursor !== undefined && { cursor }) } };
  },
});

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

function eventsAnswer<Event>(page: Listed<Event> | Fault) {
  if (isFault(page)) return page;
  const { cursor, items: events } = page;
  return { status: 200 as const, json: { ...(cursor !== undefined && { cursor }), events } };
}

async function failedRun(
  { runLog }: RunLogParts,
  tenant: TenantId,
  id: string,
): Promise<RunIn<"failed"> | Fault> {
  const { items } = await runLog.failed(tenant, { dlqIds: [dlqId(id)] }, { limit: 1 });
  return items[0] ?? unknownFailedRun(id);
}

const unknownFailedRun = (id: string): Fault =>
  fault("not_found", `no failed run ${id.slice(0, 128)}`);

/** How many were dead letters until now. */
async function removed({ runs }: RunLogParts, failed: readonly Run[]): Promise<number> {
  let count = 0;
  for (const run of failed) {
    const isNow = await runs.change(run, (now) => {
      const next = withoutLetter(now);
      if (!next) return { verdict: false };
      return { verdict: true, write: { run: next, parts: [], deliveries: [] } };
    });
    if (isNow) count += 1;
  }
  return count;
}

async function runPage(
  parts: RunLogParts,
  tenant: TenantId,
  { filter, isRetried, page, withSteps }: RunLogQuery,
  withCaller: boolean,
): Promise<Listed<RunJson> | Fault> {
  const scope = { tenant, list: isRetried ? "retried runs" : "runs", filter };
  const opened = parts.paging.open(scope, page);
  if (isFault(opened)) return opened;
  const list = (asked: Asked) => parts.runLog.list(tenant, opened.filter, asked);
  // Which runs are retried is known by their deliveries alone.
  if (!withSteps && !isRetried) {
    const { items: runs, next } = await list(opened.page);
    const items = runs.map((run) => runHeadJson(run, withCaller));
    return { items, cursor: parts.paging.seal(scope, opened, next) };
  }
  const view = { sha256: parts.sha256, bodyBytesMax: page.bodyBytesMax };
  const { readings, next } = await readPage(
    (runs) => readingsOf(parts, tenant, runs, view),
    opened.page,
    list,
  );
  const wanted = isRetried ? readings.filter(hasRetry) : readings;
  const items = wanted.map((reading) =>
    withSteps ? runJson(reading, view, withCaller) : runHeadJson(reading.run, withCaller),
  );
  return { items, cursor: parts.paging.seal(scope, opened, next) };
}

const hasRetry = ({ progress }: RunReading): boolean =>
  [...progress.values()].some(({ retried }) => retried > 0);

/** `GET /v2/dlq?source=workflow` is the same list. */
export async function failedRunPage(
  parts: RunLogParts,
  tenant: TenantId,
  query: FailedRunQuery,
): Promise<Listed<FailedRunJson> | Fault> {
  const view = { sha256: parts.sha256, bodyBytesMax: query.page.bodyBytesMax };
  return failedPageOf(parts, tenant, query, async (list, page) => {
    const { next, readings } = await readPage(
      (runs) => readingsOf(parts, tenant, runs.filter(isAsked(query)), view),
      page,
      list,
    );
    return { items: readings.map((reading) => failedRunJson(reading, view)), next };
  });
}

/** Of all that a query names. */
export const failedPage = (
  parts: RunLogParts,
  tenant: TenantId,
  query: FailedRunQuery,
): Promise<Listed<RunIn<"failed">> | Fault> =>
  failedPageOf(parts, tenant, query, async (list, page) => {
    const { items, next } = await list(page);
    return { items: items.filter(isAsked(query)), next };
  });

type FailedList = (page: RunPage) => ReturnType<RunLog["failed"]>;

async function failedPageOf<Item>(
  parts: RunLogParts,
  tenant: TenantId,
  { filter, functionStates, page }: FailedRunQuery,
  read: (
    list: FailedList,
    page: RunPage,
  ) => Promise<{ readonly items: readonly Item[]; readonly next: string | undefined }>,
): Promise<Listed<Item> | Fault> {
  const scope = { tenant, list: `failed runs ${functionStates?.join() ?? ""}`, filter };
  const opened = parts.paging.open(scope, page);
  if (isFault(opened)) return opened;
  const list: FailedList = (asked) => parts.runLog.failed(tenant, opened.filter, asked);
  const { items, next } = await read(list, opened.page);
  return { items, cursor: parts.paging.seal(scope, opened, next) };
}

const isAsked =
  ({ functionStates }: FailedRunQuery) =>
  (run: RunIn<"failed">): boolean => {
    const state = functionState(run);
    return !functionStates || (state !== undefined && functionStates.includes(state));
  };
