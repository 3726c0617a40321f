/**
 * The endpoints that are handled before the router, decided on the raw target: a router would normalise parts that
 * belong to the destination. Each accepts the configuration headers, and any bytes as its body.
 */
import { type Fault, isFault } from "@posthaste/domain";
import {
  type DestinationTarget,
  parseDestinationTarget,
} from "./destination/destination-target.ts";
import { enqueue } from "./endpoints/enqueue.ts";
import { publish } from "./endpoints/publish.ts";
import { createSchedule } from "./endpoints/schedules.ts";
import { trigger } from "./endpoints/trigger.ts";
import { type RawTarget } from "./endpoints/raw-target.ts";
import { badName, isName } from "./wire/text.ts";

export const rawTargets = [
  publish,
  enqueue,
  trigger,
  createSchedule,
] as const satisfies readonly RawTarget[];

export type RawTargetRow = (typeof rawTargets)[number];
export type RawOperation = RawTargetRow["operation"];

/** Returns the row of a request target as it came in; undefined if the router handles it. */
export function rawTargetOf(method: string, target: string): RawTargetRow | undefined {
  const row: RawTargetRow | undefined = rawTargets.find(({ prefix }) => isUnder(prefix, target));
  return row && isRouted(row, method, target) ? undefined : row;
}

/**
 * Reports whether the router handles a target under the prefix. If the prefix is also a collection, other methods do
 * not name destinations, and neither do paths below one of its names.
 */
const isRouted = (row: RawTarget, method: string, target: string): boolean =>
  row.routed !== undefined &&
  (method !== "POST" || row.routed.test(target.slice(row.prefix.length + 1)));

function isUnder(prefix: string, target: string): boolean {
  if (!target.startsWith(prefix) && target.slice(0, prefix.length).toLowerCase() !== prefix)
    return false;
  const next = target.charAt(prefix.length);
  return next === "/" || next === "" || next === "?";
}

export type ParsedTarget = DestinationTarget & {
  /** The names in the order of the row's `names`. */
  readonly names: readonly string[];
};

/** Parses a target that `rawTargetOf` gave to this row. */
export function parseRawTarget(row: RawTarget, target: string): ParsedTarget | Fault {
  let from = target.charAt(row.prefix.length) === "/" ? row.prefix.length + 1 : row.prefix.length;
  const names: string[] = [];
  for (const field of row.names) {
    const slashAt = target.indexOf("/", from);
    const to = slashAt < 0 ? target.length : slashAt;
    const name = target.slice(from, to);
    if (!isName(name)) return badName(field);
    names.push(name);
    from = Math.min(to + 1, target.length);
  }
  const parsed = parseDestinationTarget(target.slice(from));
  return isFault(parsed) ? parsed : { ...parsed, names };
}
