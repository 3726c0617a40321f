/** Claims a record: the right to attempt, for a time, behind a fence (docs/design/record#claims-leases-epochs). */
import { stateAtNextGate } from "../lane/gates.ts";
import { isKnownFormat } from "../shared/format.ts";
import { leaseLossParts, leaseMs } from "../shared/limits.ts";
import { isLeaseOver } from "../shared/time.ts";
import { type Owner } from "../shared/ids.ts";
import { type InState, type MessageRecord } from "./message.ts";

/**
 * Reports whether a record may be claimed: `due` and inside its grant if it has one, `held` after its time, or
 * `claimed` after its lease. A held record with a flow key must join its line first. A record that this build does
 * not understand is never claimable.
 */
export function isClaimable(record: MessageRecord, now: number, setAheadMs: number): boolean {
  const { message, state } = record;
  if (!isKnownFormat(message)) return false;
  switch (state.kind) {
    case "due":
      return state.grantUntil === undefined || state.grantUntil > now;
    case "held":
      return stateAtNextGate(message, "queue", state.dueAt, now).kind === "due";
    case "claimed":
      return isLeaseOver(state.leaseUntil, now, setAheadMs);
    case "queued":
    case "waiting":
    case "delivered":
    case "failed":
    case "canceled":
      return false;
  }
}

export function claim(record: MessageRecord, owner: Owner, now: number): InState<"claimed"> {
  const leaseUntil = now + leaseMs;
  return {
    ...record,
    state: { kind: "claimed", owner, leaseUntil },
    wakeAt: leaseUntil,
    epoch: record.epoch + 1,
    leaseLosses: record.leaseLosses + (record.state.kind === "claimed" ? lossOf(record.state) : 0),
  };
}

/** Returns the parts that a lost claim counts (docs/design/record#poisonous-messages). */
export const lossOf = ({ renewed }: InState<"claimed">["state"]): number =>
  renewed ? 1 : leaseLossParts;
