/** `/v2/workflows/runs`. */
import { givenCreatedAt, historyJson, type RunSelection, type runs } from "@posthaste/contract";
import {
  fault,
  type Fault,
  isActive,
  isFault,
  isUnderWay,
  refusalOfScope,
  type Run,
  runId,
  type TenantId,
  type RunId,
} from "@posthaste/domain";
import {
  beginBulkAction,
  type BulkPorts,
  cancelRunsMatching,
  endOfBulkAction,
  endOwnRun,
  endRun,
  finishRun,
  isOfUseBefore,
  type RunPorts,
  workOrDefer,
} from "@posthaste/engine";
import { listTexts } from "@posthaste/http";
import { type RunAddress } from "@posthaste/ports";
import { type Reads, type ReadsIn } from "../reads.ts";
import { type Handlers } from "./handler.ts";

export type RunHandlerParts = RunPorts & BulkPorts & { readonly reads: ReadsIn };

export const runHandlers = (ports: RunHandlerParts): Handlers<keyof typeof runs> => ({
  readRunHistory: async ({ tenant, param, rawHeaders, scope }) => {
    const id = param("runId");
    const address = runAddress(tenant.id, id, rawHeaders);
    const run = await ports.runs.get(address);
    if (!run || !isActive(run) || isOfUseBefore(run, address)) return unknownRun(id);
    // The endpoint gets the values that all other reads redact.
    const refused = run.plan.policy.redaction && refusalOfScope(scope, { kind: "secret" });
    if (refused) return refused;
    return {
      status: 200,
      read: async (permit) => ({ pieces: listTexts(historyPages(ports.reads(permit), run)) }),
    };
  },
  endRun: async ({ tenant, param, query, rawHeaders, body }) => {
    const id = param("runId");
    const address = runAddress(tenant.id, id, rawHeaders);
    // An endpoint that is called for its last step again finishes a run that has ended.
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

/** Cancels matching runs: with a count in one bounded call, without one as a bulk action, which continues after the call. */
async function cancelMatching(
  ports: RunHandlerParts,
  tenant: TenantId,
  { filter, count: countMax }: Extract<RunSelection, { kind: "filter" }>,
): Promise<number | Fault> {
  const until = ports.clock.passedMs() + callMsMax;
  if (countMax !== undefined) {
    const { count, isAll } = await cancelRunsMatching(ports, tenant, { filter, countMax, until });
    return isAll ? count : tooLong(`${count} runs are cancelled, repeat the call for the rest`);
  }
  const work = { kind: "cancelRuns", filter } as const;
  const begun = await beginBulkAction(ports, tenant, work, { isWorkedHere: true, total: 0 });
  if (isFault(begun)) return begun;
  const { action, isNew } = begun;
  // An equal action under way belongs to another worker; a new one may, too, by now.
  const left = isNew ? await workOrDefer(ports, action, until) : action;
  const done = await endOfBulkAction(ports, left, until);
  if (!isUnderWay(done)) return done.processed;
  return tooLong(`${done.processed} runs are cancelled so far, bulk action ${done.id} goes on`);
}

const tooLong = (soFar: string): Fault =>
  fault("too_many_requests", `this takes too long for one call: ${soFar}`);

const unknownRun = (id: string) => fault("not_found", `workflowRun ${id.slice(0, 128)} not found`);

async function* historyPages({ history }: Pick<Reads, "history">, run: Run) {
  let from = 0;
  // Each page begins after the last entry of the one before.
  while (from < run.history.length) {
    const entries = await history(run, from);
    if (entries.length === 0) throw new Error("the run was swept while its history was read");
    yield historyJson(entries);
    from += entries.length;
  }
}
