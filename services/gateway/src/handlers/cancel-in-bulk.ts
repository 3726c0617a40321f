/**
 * `DELETE /v2/messages`: by ids, answered with a count; by filters with a count, in one bounded call; by filters alone, as a bulk
 * action.
 */
import { type CancelSelection, type messages, parseCancelSelection } from "@posthaste/contract";
import { type Fault, fault, isFault, isUnderWay, type TenantId } from "@posthaste/domain";
import {
  beginBulkAction,
  type BulkPorts,
  cancelMatching,
  cancelMessages,
  countLive,
  countMatching,
  endOfBulkAction,
  matchedMax,
  workOrDefer,
} from "@posthaste/engine";
import { type Handlers } from "./handler.ts";

export type CancelParts = BulkPorts;

const callMsMax = 60_000;
/** The longest time for which an answer that does not wait for the end counts the matching messages. */
const countMsMax = 1_000;

type Cancelled = { readonly cancelled: number; readonly actionId?: string };
type ByFilter = Extract<CancelSelection, { readonly filter: unknown }>;

export const cancelHandlers = (
  parts: CancelParts,
): Pick<Handlers<keyof typeof messages>, "cancelMessages"> => ({
  cancelMessages: async ({ tenant: { id: tenant }, query, body }) => {
    const selection = parseCancelSelection(query, body);
    if (isFault(selection)) return selection;
    if (selection === "none") return { status: 202, json: { cancelled: 0 } };
    if (selection.dryRun) {
      const matched = await count(parts, tenant, selection);
      return isFault(matched) ? matched : { status: 200, json: { dryRun: true, matched } };
    }
    const cancelled = await cancel(parts, tenant, selection);
    return isFault(cancelled) ? cancelled : { status: 202, json: cancelled };
  },
});

async function cancel(
  parts: CancelParts,
  tenant: TenantId,
  selection: CancelSelection,
): Promise<Cancelled | Fault> {
  if ("ids" in selection)
    return { cancelled: (await cancelMessages(parts, tenant, selection.ids)).length };
  const { filter, count: countMax } = selection;
  if (countMax === undefined) return cancelAll(parts, tenant, selection);
  const until = parts.clock.passedMs() + callMsMax;
  const done = await cancelMatching(parts, tenant, { filter, countMax, until });
  if (done.isAll) return { cancelled: done.count };
  return tooLong(`${done.count} messages are cancelled, repeat the call for the rest`);
}

async function cancelAll(
  parts: CancelParts,
  tenant: TenantId,
  { filter, async }: ByFilter,
): Promise<Cancelled | Fault> {
  const until = parts.clock.passedMs() + callMsMax;
  const total = async ? await countBriefly(parts, tenant, filter) : 0;
  const work = { kind: "cancel", filter } as const;
  const begun = await beginBulkAction(parts, tenant, work, { isWorkedHere: !async, total });
  if (isFault(begun)) return begun;
  const { action, isNew } = begun;
  if (async) return { cancelled: action.total, actionId: action.id };
  // An equal action under way belongs to another worker; a new one may, too, by now.
  const left = isNew ? await workOrDefer(parts, action, until) : action;
  const done = await endOfBulkAction(parts, left, until);
  if (!isUnderWay(done)) return { cancelled: done.processed };
  return tooLong(`${done.processed} messages are cancelled so far, bulk action ${done.id} goes on`);
}

async function countBriefly(
  parts: CancelParts,
  tenant: TenantId,
  filter: ByFilter["filter"],
): Promise<number> {
  const until = parts.clock.passedMs() + countMsMax;
  return (await countMatching(parts, tenant, { filter, countMax: matchedMax, until })).count;
}

async function count(
  parts: CancelParts,
  tenant: TenantId,
  selection: CancelSelection,
): Promise<number | Fault> {
  if ("ids" in selection) return countLive(parts, tenant, selection.ids);
  const { filter, count: countMax = matchedMax } = selection;
  const until = parts.clock.passedMs() + callMsMax;
  const counted = await countMatching(parts, tenant, { filter, countMax, until });
  return counted.isAll ? counted.count : tooLong(`${counted.count} messages match so far`);
}

const tooLong = (soFar: string): Fault =>
  fault("too_many_requests", `this takes too long for one call: ${soFar}`);
