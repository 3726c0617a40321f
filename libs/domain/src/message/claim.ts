/** Claiming: the right to attempt, for a time, behind a fence (reliability.md P3). */
import { leaseMs } from "../shared/limits.ts";
import { type Owner } from "../shared/ids.ts";
import { type InState, type MessageRecord } from "./message.ts";

/**
 * decisions.md 6: `due` (inside its grant, if it has one), `held` with its time come, `claimed` with its lease past.
 * A held record with a lane is not: it must get into line first.
 */
export function isClaimable(record: MessageRecord, now: number): boolean {
  const { state } = record;
  switch (state.kind) {
    case "due":
      return state.grantUntil === undefined || state.grantUntil > now;
    case "held":
      return state.dueAt <= now && record.message.flowLane === undefined;
    case "claimed":
      return state.leaseUntil <= now;
    case "waiting":
    case "expanding":
    case "delivered":
    case "failed":
    case "canceled":
    case "expanded":
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
    leaseLosses: record.leaseLosses + (record.state.kind === "claimed" ? 1 : 0),
  };
}
