import { type TenantId } from "@posthaste/domain";

/** How many calls of a tenant are under way. For its owner: nothing is decided by it. */
export interface RunningCalls {
  ofTenant(tenant: TenantId): Promise<number>;
}
