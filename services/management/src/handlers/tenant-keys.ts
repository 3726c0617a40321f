/** `/v2/tenants/{id}/keys`: the keys with which a tenant's deliveries are signed. */
import { keysJson, type tenantKeys } from "@posthaste/contract";
import { isFault } from "@posthaste/domain";
import { newSigningKey } from "@posthaste/http";
import { type ManagementPorts } from "../ports.ts";
import { changeOpen, findTenant } from "../tenants.ts";
import { type Handlers } from "./handler.ts";

export const tenantKeyHandlers = ({
  accounts,
  random,
}: ManagementPorts): Handlers<keyof typeof tenantKeys> => ({
  readTenantKeys: async ({ param }) => {
    const tenant = await findTenant(accounts, param("id"));
    return isFault(tenant) ? tenant : { status: 200, json: keysJson(tenant.keys) };
  },
  rotateTenantKeys: async ({ param }) => {
    const fresh = newSigningKey(random);
    const tenant = await changeOpen(accounts, param("id"), (stored) => ({
      ...stored,
      keys: { current: stored.keys.next, next: fresh },
    }));
    return isFault(tenant) ? tenant : { status: 200, json: keysJson(tenant.keys) };
  },
});
