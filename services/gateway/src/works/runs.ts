/** `/v2/workflows/runs`, and what publishes do for runs. */
import { historyJson, type RunSelection, type runs } from "@posthaste/contract";
import {
  fault,
  type Fault,
  isActive,
  isFault,
  type PublishCommand,
  runId,
  type TenantId,
  type RunId,
} from "@posthaste/domain";
import {
  appendSteps,
  endRun,
  finishRun,
  invoke,
  isCall,
  isEntry,
  isInvoke,
  placeCall,
  type Published,
  type RunPorts,
  startRun,
} from "@posthaste/engine";
import { type PageRequest, type RunLog } from "@posthaste/ports";
import { type Works } from "./work.ts";

export type RunWorkParts = RunPorts & { readonly runLog: RunLog };

export const runWorks = (ports: RunWorkParts): Works<keyof typeof runs> => ({
  readRunHistory: async ({ tenant, param }) => {
    const id = param("runId");
    const run = await ports.runs.get({ tenant: tenant.id, id: runId(id) });
    if (!run || !isActive(run)) return unknownRun(id);
    return { status: 200, json: historyJson(await ports.runs.history(run)) };
  },
  endRun: async ({ tenant, param, query, body }) => {
    const id = param("runId");
    const address = { tenant: tenant.id, id: runId(id) };
    // An endpoint that is asked once more for its last step finishes what has ended.
    if (!query.cancels) {
      await finishRun(ports, address, body);
      return { status: 200, json: { cancelled: 0 } };
    }
    const ended = await endRun(ports, address);
    if (ended === "unknown") return unknownRun(id);
    return { status: 200, json: { cancelled: ended === "now" ? 1 : 0 } };
  },
  cancelRuns: async ({ tenant, query, body }) => {
    const selection = query ?? body;
    if (!selection)
      return fault("malformed", "workflowRunIds: must be given, or a filter, or count");
    const cancelled = await (selection.kind === "ids"
      ? cancelThese(ports, tenant.id, [...new Set(selection.ids)])
      : cancelMatching(ports, tenant.id, selection));
    return { status: 200, json: { cancelled } };
  },
});

/** Answers how many were active. */
async function cancelThese(
  ports: RunPorts,
  tenant: TenantId,
  ids: readonly RunId[],
): Promise<number> {
  let cancelled = 0;
  for (const id of ids) if ((await endRun(ports, { tenant, id })) === "now") cancelled += 1;
  return cancelled;
}

/** So many heads are looked at in one call, and so many of them at once. */
const lookedMax = 10_000;
const pageMax = 100;

async function cancelMatching(
  ports: RunWorkParts,
  tenant: TenantId,
  { filter, urlPrefixes, count }: Extract<RunSelection, { kind: "filter" }>,
): Promise<number> {
  let cancelled = 0;
  let after: PageRequest["after"];
  for (let looked = 0; looked < lookedMax && cancelled < count; looked += pageMax) {
    const page = { limit: pageMax, ...(after && { after }) };
    const active = { ...filter, states: ["active"] } as const;
    const { items, next } = await ports.runLog.list(tenant, active, page);
    const meant = items.filter(
      ({ url }) => urlPrefixes?.some((text) => url.startsWith(text)) ?? true,
    );
    const ids = meant.slice(0, count - cancelled).map(({ id }) => id);
    cancelled += await cancelThese(ports, tenant, ids);
    if (!next) break;
    after = next;
  }
  return cancelled;
}

const unknownRun = (id: string) => fault("not_found", `workflowRun ${id.slice(0, 128)} not found`);

/** Of a run that is there: not its start, but for that by which an endpoint answers the first phase of one. */
export const isPartOfRun = ({ run }: PublishCommand): boolean =>
  run !== undefined && (run.kind !== "start" || run.phase === "adopts");

/** Publishes for runs, in their order; the steps of a run that follow each other join it together. */
export async function publishForRuns(
  ports: RunPorts,
  commands: readonly PublishCommand[],
): Promise<readonly Published[] | Fault> {
  const published: Published[] = [];
  for (const some of alike(commands)) {
    const done = await publishAlike(ports, some);
    if (isFault(done)) return done;
    published.push(...done);
  }
  return published;
}

async function publishAlike(
  ports: RunPorts,
  some: readonly PublishCommand[],
): Promise<readonly Published[] | Fault> {
  const steps = some.filter(isEntry);
  const [only] = some;
  if (!only || steps.length > 0) return appendSteps(ports, steps);
  if (!isCall(only) && !isInvoke(only)) return startRuns(some, (start) => startRun(ports, start));
  const done = await (isCall(only) ? placeCall(ports, only) : invoke(ports, only));
  return isFault(done) ? done : [done];
}

/** So many are started side by side: their writes share syncs. */
const startedAtOnce = 64;

/** In their order, which also decides between two of one id: the first begins the run. */
export async function startRuns<T>(
  starts: readonly PublishCommand[],
  start: (command: PublishCommand) => Promise<T>,
): Promise<readonly T[]> {
  const started: T[] = [];
  for (const wave of waves(starts)) started.push(...(await Promise.all(wave.map(start))));
  return started;
}

/** Each id at most once in a wave. */
function waves(starts: readonly PublishCommand[]): readonly (readonly PublishCommand[])[] {
  const all: PublishCommand[][] = [];
  const ids = new Set<RunId | undefined>();
  for (const start of starts) {
    const last = all.at(-1);
    const id = start.run?.kind === "start" ? start.run.id : undefined;
    if (last && last.length < startedAtOnce && !ids.has(id)) last.push(start);
    else {
      all.push([start]);
      ids.clear();
    }
    ids.add(id);
  }
  return all;
}

/** Steps of one run together, and starts. */
function alike(commands: readonly PublishCommand[]): readonly (readonly PublishCommand[])[] {
  const parts: PublishCommand[][] = [];
  for (const command of commands) {
    const before = parts.at(-1)?.[0];
    const joins = before && (isOfSameRun(before, command) || (isStart(before) && isStart(command)));
    if (joins) parts.at(-1)?.push(command);
    else parts.push([command]);
  }
  return parts;
}

const isStart = ({ run }: PublishCommand): boolean => run?.kind === "start";

const isOfSameRun = (one: PublishCommand, other: PublishCommand): boolean =>
  isEntry(one) &&
  isEntry(other) &&
  one.run.id === other.run.id &&
  one.run.createdAt === other.run.createdAt;
