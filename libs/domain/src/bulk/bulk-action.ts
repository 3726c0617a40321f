/**
 * A bulk action: work on all that matches, in steps that stay short, which goes on after a crash (docs/design/bulk). Every
 * change is a function of this file that raises `version`, and is written where the stored version is one lower.
 */
import { type LiveFilter } from "../query/filter.ts";
import { type ActiveRunFilter } from "../query/run-filter.ts";
import { runFormat } from "../shared/format.ts";
import { hash32 } from "../shared/hash.ts";
import { type BulkActionId, type MessageId, type TenantId } from "../shared/ids.ts";
import { ringAheadMs } from "../shared/limits.ts";
import { shardCount } from "../shared/shards.ts";

/** What is done, and to what. */
export type BulkWork =
  | { readonly kind: "cancel"; readonly filter: LiveFilter }
  | {
      readonly kind: "cancelRuns";
      readonly filter: ActiveRunFilter;
      /** Of a tenant that is being closed: runs are meant whenever they begin. */
      readonly isOpenEnded?: true;
    };

/** Where the next step goes on. Fan-outs that are not expanded come first: what they make meanwhile, the messages' walk finds. */
export type BulkPlace =
  | { readonly in: "fanOuts"; readonly after?: MessageId }
  | { readonly in: "messages" | "runs"; readonly after?: string };

export const bulkBeginning = (kind: BulkWork["kind"]): BulkPlace => ({
  in: kind === "cancel" ? "fanOuts" : "runs",
});

/** What was made later is not touched (B1). */
export type BulkEnd = { readonly id: MessageId; readonly at: number };

export type BulkAction = {
  readonly id: BulkActionId;
  readonly tenant: TenantId;
  readonly shard: number;
  /** Absent: 1 (ADR 27). */
  readonly format?: number;
  readonly work: BulkWork;
  readonly upTo: BulkEnd;
  readonly place: BulkPlace;
  /** How many matched when it was accepted, if that was counted, and no fewer than `processed`. */
  readonly total: number;
  /** Written after the effects of a step (B2): a crash may leave out the step that it has cut. */
  readonly processed: number;
  readonly createdAt: number;
  /** Absent: it is under way. */
  readonly completedAt?: number;
  readonly version: number;
  /** The alarm, as long as it is under way (B3). */
  readonly wakeAt?: number;
};

export type NewBulkAction = Pick<
  BulkAction,
  "id" | "tenant" | "work" | "upTo" | "total" | "createdAt"
>;

/** `wakeAt`: when a scheduler is to go on with it, unless its maker has moved it. */
export const newBulkAction = (made: NewBulkAction, wakeAt: number): BulkAction => ({
  ...made,
  // A build that does not know runs would cancel messages by this filter.
  ...(made.work.kind === "cancelRuns" && { format: runFormat }),
  shard: hash32(made.id) % shardCount,
  place: bulkBeginning(made.work.kind),
  processed: 0,
  version: 1,
  wakeAt,
});

export const isUnderWay = ({ completedAt }: BulkAction): boolean => completedAt === undefined;

/** After a step that has done `count`; `next` undefined: it was the last. */
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

/** Its worker leaves it: whichever scheduler has its shard goes on at once. */
export const handedOn = (action: BulkAction, now: number): BulkAction => ({
  ...action,
  version: action.version + 1,
  wakeAt: now,
});

/** The same text for works that do the same, in whichever order their filters name it. */
export function bulkWorkText({ filter, ...how }: BulkWork): string {
  const entries = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, Array.isArray(value) ? value.toSorted() : value] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([how, entries]);
}
