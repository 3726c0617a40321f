import { type Endpoint, type Group, type Headers, type TenantId } from "@posthaste/domain";
import { type Intake } from "./intake.ts";

export interface Groups {
  get(tenant: TenantId, name: string): Promise<Group | undefined>;
  /** Heads in the order of their names, from behind `after`; "" is before all of them. */
  list(
    tenant: TenantId,
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly Group[]>;
  /** How many the tenant has, counted no further than `countMax`. */
  count(tenant: TenantId, countMax: number): Promise<number>;
  /** All endpoints of one version of a group, in order. Chunks of a replaced version live while a parent may refer to them. */
  endpoints(tenant: TenantId, chunks: Group["chunks"]): Promise<readonly Endpoint[]>;
  /** Writes new chunks, then swaps the head where `version` still holds (undefined: there is none). False: another write was faster. */
  replace(
    tenant: TenantId,
    name: string,
    version: number | undefined,
    endpoints: readonly Endpoint[],
    intake: Intake,
  ): Promise<boolean>;
  /** Of every version from now on; none: `[]`. False: there is no such group. */
  configure(tenant: TenantId, name: string, headers: Headers): Promise<boolean>;
  /** Messages already made are not touched. With a `version`: only where that still holds; the caller looks again. */
  remove(tenant: TenantId, name: string, version?: number): Promise<void>;
  /** Removes replaced chunks that no unexpanded parent refers to. Answers how many. */
  sweep(limit: number): Promise<number>;
}
