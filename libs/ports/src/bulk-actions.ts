/**
 * The store of bulk actions (docs/design/bulk). A later write succeeds only if the stored version is one lower than
 * the written one, so that one of several workers wins.
 */
import { type BulkAction, type BulkActionId, type TenantId } from "@posthaste/domain";

export type BulkActionPlace = { readonly createdAt: number; readonly id: BulkActionId };

export type BulkActionPage = {
  readonly after?: BulkActionPlace;
  readonly limit: number;
  readonly bytesMax?: number;
};

export interface BulkActions {
  /**
   * Stores the first version; durable when it resolves. If the tenant has an action for the same work under way, returns that
   * one; of two added at once, both may be stored. Returns `full` when `underWayMax` actions are under way.
   */
  add(action: BulkAction, underWayMax: number): Promise<BulkAction | "full">;
  /** Writes the next version; returns false when another worker was faster. A crash may undo the write; the work is then done again. */
  move(action: BulkAction): Promise<boolean>;
  get(tenant: TenantId, id: BulkActionId): Promise<BulkAction | undefined>;
  /** Returns actions after `after`, latest first, up to the one that reaches `bytesMax` bytes. An empty list means there are no more. */
  list(tenant: TenantId, page: BulkActionPage): Promise<readonly BulkAction[]>;
  removeEnded(endedBefore: number, limit: number): Promise<void>;
}
