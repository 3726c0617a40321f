import { type TenantId } from "@posthaste/domain";

/** Counts the calls of a tenant that are under way. Shown to the tenant; nothing is decided by it. */
export interface RunningCalls {
  ofTenant(tenant: TenantId): Promise<number>;
}
