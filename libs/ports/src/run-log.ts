/** Lists of runs, newest first: the heads are the log, and nothing is copied for reading (docs/workflows). */
import {
  type FailedRunFilter,
  type PageRequest,
  type PartName,
  type Run,
  type RunAttempt,
  type RunFilter,
  type RunIn,
  type RunPart,
  type TenantId,
  type ToldAttempt,
} from "@posthaste/domain";
import { type Page } from "./message-log.ts";

export type RunPage = Pick<PageRequest, "after" | "bytesMax" | "limit">;

export type SomeParts = { readonly parts: readonly RunPart[]; readonly next?: PartName };

export interface RunLog {
  /** In the order of their starts. */
  list(tenant: TenantId, filter: RunFilter, page: RunPage): Promise<Page<Run>>;
  /** Failed runs that are dead letters still, in the order of their failures. */
  failed(tenant: TenantId, filter: FailedRunFilter, page: RunPage): Promise<Page<RunIn<"failed">>>;
  /**
   * Parts in the order of their names, from behind `after`: as many as `runReadBytesMax` holds. None of a run that has been
   * swept. `next`: there may be more behind it.
   */
  parts(run: Pick<Run, "key" | "root">, after?: PartName): Promise<SomeParts>;
  /** The latest `runAttemptsShownMax`, in the order of time. */
  attempts(run: Pick<Run, "key" | "root">): Promise<readonly RunAttempt[]>;
  /** Keeps those that are missing, the latest `runAttemptsMax` of a delivery. A store may have written them with its settle. */
  append(attempts: readonly ToldAttempt[]): Promise<void>;
}
