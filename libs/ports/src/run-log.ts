/** Lists of runs, newest first. The heads are the log; nothing is copied for reading (docs/workflows). */
import {
  type FailedRunFilter,
  type PageRequest,
  type PartName,
  type Run,
  type RunAttempt,
  type RunFilter,
  type RunIn,
  type RunPart,
  type RunRef,
  type TenantId,
  type ToldAttempt,
} from "@posthaste/domain";
import { type Page } from "./message-log.ts";

export type RunPage = Pick<PageRequest, "after" | "bytesMax" | "limit">;

export type PartsPage = { readonly parts: readonly RunPart[]; readonly next?: PartName };

export interface RunLog {
  /** Lists runs by the time of their starts. */
  list(tenant: TenantId, filter: RunFilter, page: RunPage): Promise<Page<Run>>;
  /** Lists failed runs that are still dead letters, by the time of their failures. */
  failed(tenant: TenantId, filter: FailedRunFilter, page: RunPage): Promise<Page<RunIn<"failed">>>;
  /**
   * Returns parts after `after` in name order, as many as `runReadBytesMax` holds; none of a run that has been swept.
   * `next`: there may be more after it.
   */
  parts(run: RunRef, after?: PartName): Promise<PartsPage>;
  /** Returns the latest `runAttemptsShownMax` attempts, in order of time. */
  attempts(run: RunRef): Promise<readonly RunAttempt[]>;
  /**
   * Stores the missing attempts, and keeps the latest `runAttemptsMax` of each delivery. A store may have written them with its
   * settle.
   */
  append(attempts: readonly ToldAttempt[]): Promise<void>;
}
