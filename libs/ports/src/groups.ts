/** URL groups: a head names the chunks of endpoints of its version (docs/design/record#fan-out). */
import { type Endpoint, type Group, type Headers, type TenantId } from "@posthaste/domain";
import { type Intake } from "./intake.ts";

export interface Groups {
  get(tenant: TenantId, name: string): Promise<Group | undefined>;
  /** Returns heads after `after` in name order; "" is before all names. */
  list(
    tenant: TenantId,
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly Group[]>;
  count(tenant: TenantId, countMax: number): Promise<number>;
  /**
   * Returns all endpoints of one version of a group, in order. The chunks of a replaced version are kept while a fan-out may
   * refer to them.
   */
  endpoints(tenant: TenantId, chunks: Group["chunks"]): Promise<readonly Endpoint[]>;
  /**
   * Writes new chunks, then swaps the head if it still has `version` (undefined: if there is no head). Returns false when another
   * write was faster.
   */
  replace(
    tenant: TenantId,
    name: string,
    version: number | undefined,
    endpoints: readonly Endpoint[],
    intake: Intake,
  ): Promise<boolean>;
  /** Sets the headers of this and every later version; `[]` means none. Returns false when there is no such group. */
  configure(tenant: TenantId, name: string, headers: Headers): Promise<boolean>;
  /**
   * Removes a group; messages already made stay. With `version`, removes it only if that version still holds; the caller reads
   * again to see.
   */
  remove(tenant: TenantId, name: string, version?: number): Promise<void>;
  /** Removes replaced chunks that no unexpanded fan-out refers to. Returns how many. */
  sweep(limit: number): Promise<number>;
}
