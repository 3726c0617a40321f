/**
 * The store of bulk actions (docs/design/bulk). Each later write holds where the stored version is one lower than that of
 * what is written, so of several workers one comes through.
 */
import { type BulkAction, type BulkActionId, type TenantId } from "@posthaste/domain";

/** Where an action stands in its tenant's list. */
export type BulkActionPlace = { readonly createdAt: number; readonly id: BulkActionId };

export type BulkActionPage = {
  readonly after?: BulkActionPlace;
  readonly limit: number;
  readonly bytesMax?: number;
};

export interface BulkActions {
  /**
   * Makes the first version, durable when it resolves. Answers the one of the same work that the tenant has under way, if
   * there is one: of two made at once, both may be made. `full`: so many are under way.
   */
  add(action: BulkAction, underWayMax: number): Promise<BulkAction | "full">;
  /** What a crash undoes of it is done again. */
  move(action: BulkAction): Promise<boolean>;
  get(tenant: TenantId, id: BulkActionId): Promise<BulkAction | undefined>;
  /** Latest first, from behind `after`, and no further than the one by which they have `bytesMax` bytes. None: there are no more. */
  list(tenant: TenantId, page: BulkActionPage): Promise<readonly BulkAction[]>;
  /** Removes those that ended before, so many of them. */
  removeEnded(endedBefore: number, limit: number): Promise<void>;
}
