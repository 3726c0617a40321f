/** `/v2/workflows/runs`, and the publishes of runs. */
import { givenCreatedAt, historyJson, type RunSelection, type runs } from "@posthaste/contract";
import {
  fault,
  type Fault,
  isActive,
  isFault,
  isUnderWay,
  type PublishCommand,
  type Run,
  runId,
  type TenantId,
  type RunId,
} from "@posthaste/domain";
import {
  appendSteps,
  beginBulkAction,
  type BulkPorts,
  cancelRunsMatching,
  endOfBulkAction,
  endOwnRun,
  endRun,
  finishRun,
  invoke,
  isCall,
  isEntry,
  isInvoke,
  isOfUseBefore,
  placeCall,
  type Published,
  type RunPorts,
  startRun,
  workOrHandOn,
} from "@posthaste/engine";
import { listTexts } from "@posthaste/http";
import { type RunAddress } from "@posthaste/ports";
import { type Reads, type ReadsIn } from "../reads.ts";
import { type Works } from "./work.ts";

export type RunWorkParts = RunPorts & BulkPorts & { readonly reads: ReadsIn };

export const runWorks = (ports: RunWorkParts): Works<keyof typeof runs> => ({
  readRunHistory: async ({ tenant, param, rawHeaders }) => {
    const id = param("runId");
    const address = runAddress(tenant.id, id, rawHeaders);
    const run = await ports.runs.get(address);
    if (!run || !isActive(run) || isOfUseBefore(run, address)) return unknownRun(id);
    return {
      status: 200,
      read: async (seat) => ({ pieces: listTexts(historyPages(ports.reads(seat), run)) }),
    };
  },
  endRun: async ({ tenant, param, query, rawHeaders, body }) => {
    const id = param("runId");
    const address = runAddress(tenant.id, id, rawHeaders);
    // An endpoint that is asked for its last step again finishes a run that has ended.
    if (!query.cancels) {
      await finishRun(ports, address, body);
      return { status: 200, json: { cancelled: 0 } };
    }
    const ended = await (query.isOwn ? endOwnRun : endRun)(ports, address);
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
    return isFault(cancelled) ? cancelled : { status: 200, json: { cancelled } };
  },
});

/** Returns the address of the use of the id that the headers name, or of the newest. */
export function runAddress(
  tenant: TenantId,
  id: string,
  rawHeaders: readonly string[],
): RunAddress {
  const createdAt = givenCreatedAt(rawHeaders);
  return { tenant, id: runId(id), ...(createdAt !== undefined && { createdAt }) };
}

/** Cancels runs. Returns how many were active. */
async function cancelThese(
  ports: RunPorts,
  tenant: TenantId,
  ids: readonly RunId[],
): Promise<number> {
  let cancelled = 0;
  for (const id of ids) if ((await endRun(ports, { tenant, id })) === "now") cancelled += 1;
  return cancelled;
}

const callMsMax = 60_000;

/** Cancels matching runs: with a count in one bounded call, without one as a bulk action, which goes on after the call. */
async function cancelMatching(
  ports: RunWorkParts,
  tenant: TenantId,
  { filter, count: countMax }: Extract<RunSelection, { kind: "filter" }>,
): Promise<number | Fault> {
  const until = ports.clock.passedMs() + callMsMax;
  if (countMax !== undefined) {
    const { count, isAll } = await cancelRunsMatching(ports, tenant, { filter, countMax, until });
    return isAll ? count : tooLong(`${count} runs are cancelled, repeat it for the rest`);
  }
  const work = { kind: "cancelRuns", filter } as const;
  const begun = await beginBulkAction(ports, tenant, work, { isWorkedHere: true, total: 0 });
  if (isFault(begun)) return begun;
  const { action, isNew } = begun;
  // An equal action under way belongs to another worker; a new one may, too, by now.
  const left = isNew ? await workOrHandOn(ports, action, until) : action;
  const done = await endOfBulkAction(ports, left, until);
  if (!isUnderWay(done)) return done.processed;
  return tooLong(`${done.processed} runs are cancelled so far, bulk action ${done.id} goes on`);
}

const tooLong = (soFar: string): Fault =>
  fault("too_many_requests", `this takes longer than a call may: ${soFar}`);

const unknownRun = (id: string) => fault("not_found", `workflowRun ${id.slice(0, 128)} not found`);

/** Reports whether a publish belongs to an existing run: any but a start, and the start by which an endpoint answers a first phase. */
export const isPartOfRun = ({ run }: PublishCommand): boolean =>
  run !== undefined && (run.kind !== "start" || run.phase === "adopts");

/** Publishes for runs, in order. Successive steps of one run join it together. */
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

/** The number of runs started side by side; their writes share syncs. */
const startedAtOnce = 64;

/**
 * Starts runs in order; of two starts of one id the first begins the run. A fault is the answer to all starts. Runs started
 * before it stay started, as after a lost answer.
 */
export async function startRuns<T>(
  starts: readonly PublishCommand[],
  start: (command: PublishCommand) => Promise<T | Fault>,
): Promise<readonly T[] | Fault> {
  const started: T[] = [];
  for (const wave of waves(starts))
    for (const each of await Promise.all(wave.map(start))) {
      if (isFault(each)) return each;
      started.push(each);
    }
  return started;
}

/** Splits starts into waves, each with an id at most once. */
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

/** Groups successive steps of one run, and successive starts. */
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

async function* historyPages({ history }: Pick<Reads, "history">, run: Run) {
  let from = 0;
  // Each page begins behind the last entry of the one before.
  while (from < run.history.length) {
    const entries = await history(run, from);
    if (entries.length === 0) throw new Error("the run was swept while its history was read");
    yield historyJson(entries);
    from += entries.length;
  }
}
