/** Lanes without a line: a publish may take a slot of one itself (docs/design/lanes#taken-by-a-publish). */
import { isKnownFormat } from "../shared/format.ts";
import { type Flow } from "./flow.ts";
import { areSameLimits, type FlowLimits } from "./flow-control.ts";
import { type FlowLane } from "./lane.ts";
import { limitsPublished } from "./pins.ts";

type Row = Pick<FlowLane, "format" | "limits" | "paused" | "pins">;

/**
 * Returns the limits by which a publish takes a slot for a message of `flow` while the line is empty, or undefined
 * when the message joins the line in any case. A change of the limits is left to the granter, since it also applies
 * to waiting messages. So is a rate, whose window is written by one granter after the other.
 */
export function openLimits(row: Row | undefined, flow: Flow): FlowLimits | undefined {
  const limits = row?.limits ?? flow.limits;
  if (limits.rate !== undefined) return undefined;
  if (!row) return limits;
  const isOpen = !row.paused && isKnownFormat(row);
  return isOpen && areSameLimits(limits, limitsPublished(row, flow.limits)) ? limits : undefined;
}
