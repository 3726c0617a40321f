/** `DELETE /v2/messages`: by ids, which is one count, or by filters, which takes steps and has a bound in time. */
import { type CancelSelection, type messages, parseCancelSelection } from "@posthaste/contract";
import { type Fault, fault, isFault, type TenantId } from "@posthaste/domain";
import {
  cancelMatching,
  cancelMessages,
  countLive,
  countMatching,
  matchedMax,
  type MatchingPorts,
} from "@posthaste/engine";
import { type Works } from "./work.ts";

export type CancelParts = MatchingPorts;

/** One call lasts no longer. */
const callMsMax = 60_000;

export const cancelWorks = (
  parts: CancelParts,
): Pick<Works<keyof typeof messages>, "cancelMessages"> => ({
  cancelMessages: async ({ tenant: { id: tenant }, query, body }) => {
    const selection = parseCancelSelection(query, body);
    if (isFault(selection)) return selection;
    if (selection === "none") return { status: 202, json: { cancelled: 0 } };
    if (selection.dryRun) {
      const matched = await count(parts, tenant, selection);
      return isFault(matched) ? matched : { status: 200, json: { dryRun: true, matched } };
    }
    const cancelled = await cancel(parts, tenant, selection);
    return isFault(cancelled) ? cancelled : { status: 202, json: { cancelled } };
  },
});

async function cancel(
  parts: CancelParts,
  tenant: TenantId,
  selection: CancelSelection,
): Promise<number | Fault> {
  if ("ids" in selection) return (await cancelMessages(parts, tenant, selection.ids)).length;
  const { filter, count: countMax = Infinity } = selection;
  const until = parts.clock.now() + callMsMax;
  const done = await cancelMatching(parts, tenant, { filter, countMax, until });
  return done.isAll ? done.count : tooLong(`${done.count} messages are cancelled`);
}

async function count(
  parts: CancelParts,
  tenant: TenantId,
  selection: CancelSelection,
): Promise<number | Fault> {
  if ("ids" in selection) return countLive(parts, tenant, selection.ids);
  const { filter, count: countMax = matchedMax } = selection;
  const until = parts.clock.now() + callMsMax;
  const counted = await countMatching(parts, tenant, { filter, countMax, until });
  return counted.isAll ? counted.count : tooLong(`${counted.count} messages match so far`);
}

const tooLong = (soFar: string): Fault =>
  fault("too_many_requests", `this takes longer than a call may: ${soFar}, repeat it for the rest`);
