/** The keys that sign a tenant's deliveries, in the management API, which shows and rotates them. */
import { endpoint } from "../endpoints/endpoint.ts";
import { keysSchema } from "../endpoints/signing-keys.ts";

export const tenantKeys = {
  readTenantKeys: endpoint({
    method: "get",
    path: "/v2/tenants/{id}/keys",
    kind: "secret",
    summary: "Read the keys that sign a tenant's deliveries",
    answers: { 200: { says: "Both keys", schema: keysSchema } },
    faults: ["forbidden", "not_found"],
  }),
  rotateTenantKeys: endpoint({
    method: "post",
    path: "/v2/tenants/{id}/keys/rotate",
    kind: "write",
    summary: "Rotate the keys: next becomes current, and there is a new next",
    answers: { 200: { says: "Both keys", schema: keysSchema } },
    faults: ["forbidden", "not_found"],
  }),
};
