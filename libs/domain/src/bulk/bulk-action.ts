/**
 * A bulk action works on everything that matches a filter, in short steps, and continues after a crash (docs/design/bulk).
 * Every change is a function of this file that raises `version`; it is written where the stored version is one lower.
 */
import { type LiveFilter } from "../query/filter.ts";
import { type ActiveRunFilter } from "../query/run-filter.ts";
import {
  type BulkActionId,
  hash32,
  type MessageId,
  shardCount,
  type TenantId,
} from "../shared/ids.ts";
import { ringAheadMs } from "../shared/limits.ts";

export type BulkWork =
  | { readonly kind: "cancel"; readonly filter: LiveFilter }
  | {
      readonly kind: "cancelRuns";
      readonly filter: ActiveRunFilter;
      /** Set when a tenant is being closed: runs are cancelled whenever they began. */
      readonly isOpenEnded?: true;
    };

/**
 * The place at which the next step continues. Fan-outs that are not expanded come first; the messages' walk finds the
 * children that they make meanwhile.
 */
export type BulkPlace =
  | { readonly in: "fanOuts"; readonly after?: MessageId }
  | { readonly in: "messages" | "runs"; readonly after?: string };

export const bulkBeginning = (kind: BulkWork["kind"]): BulkPlace => ({
  in: kind === "cancel" ? "fanOuts" : "runs",
});

/** The upper end of the walk: messages made later are not touched (B1). */
export type BulkEnd = { readonly id: MessageId; readonly at: number };

export type BulkAction = {
  readonly id: BulkActionId;
  readonly tenant: TenantId;
  readonly shard: number;
  /** Absent for format 1 (ADR 27). */
  readonly format?: number;
  readonly work: BulkWork;
  readonly upTo: BulkEnd;
  readonly place: BulkPlace;
  /** How many matched when the action was accepted, if they were counted; never below `processed`. */
  readonly total: number;
  /** Written after the effects of a step (B2), so a crash may leave out the step that it interrupted. */
  readonly processed: number;
  readonly createdAt: number;
  /** Absent while the action is under way. */
  readonly completedAt?: number;
  readonly version: number;
  /** The alarm, present while the action is under way (B3). */
  readonly wakeAt?: number;
};

export type NewBulkAction = Pick<
  BulkAction,
  "id" | "tenant" | "work" | "upTo" | "total" | "createdAt"
>;

/** `wakeAt` is when a scheduler continues the action, unless its maker moves the alarm first. */
export const newBulkAction = (made: NewBulkAction, wakeAt: number): BulkAction => ({
  ...made,
  shard: hash32(made.id) % shardCount,
  place: bulkBeginning(made.work.kind),
  processed: 0,
  version: 1,
  wakeAt,
});

export const isUnderWay = ({ completedAt }: BulkAction): boolean => completedAt === undefined;

/** Returns the action after a step that processed `count`. The step was the last if `next` is undefined. */
export function advanced(
  action: BulkAction,
  count: number,
  next: BulkPlace | undefined,
  now: number,
): BulkAction {
  const { wakeAt: _, ...rest } = action;
  const processed = action.processed + count;
  const moved = { ...rest, processed, total: Math.max(action.total, processed) };
  const version = action.version + 1;
  return next === undefined
    ? { ...moved, version, completedAt: now }
    : { ...moved, version, place: next, wakeAt: now + ringAheadMs };
}

/** Returns the action as its worker leaves it, with its alarm set to now. */
export const deferredAction = (action: BulkAction, now: number): BulkAction => ({
  ...action,
  version: action.version + 1,
  wakeAt: now,
});

/** Returns the same text for works that do the same, in whichever order their filters are written. */
export function bulkWorkText({ filter, ...how }: BulkWork): string {
  const entries = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, Array.isArray(value) ? value.toSorted() : value] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([how, entries]);
}
