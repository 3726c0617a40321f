import { type Endpoint, type Group, type TenantId } from "@posthaste/domain";

export interface Groups {
  get(tenant: TenantId, name: string): Promise<Group | undefined>;
  list(tenant: TenantId): Promise<readonly Group[]>;
  /** All endpoints of one version of a group, in order. Chunks of a replaced version live while a parent may refer to them. */
  endpoints(tenant: TenantId, chunks: Group["chunks"]): Promise<readonly Endpoint[]>;
  /** Writes new chunks, then swaps the head where `version` still holds (undefined: there is none). False: someone was faster. */
  replace(
    tenant: TenantId,
    name: string,
    version: number | undefined,
    endpoints: readonly Endpoint[],
  ): Promise<boolean>;
  /** Messages already made are not touched. With a `version`: only where that still holds; the caller looks again. */
  remove(tenant: TenantId, name: string, version?: number): Promise<void>;
  /** Removes replaced chunks that no unexpanded parent refers to. Answers how many. */
  sweep(limit: number): Promise<number>;
}
