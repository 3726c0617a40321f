/** `/v2/tenants/{id}/keys`: what a tenant's deliveries are signed with. */
import { keysJson } from "@posthaste/contract";
import { isFault } from "@posthaste/domain";
import { newSigningKey, reply, type RoutedPath } from "@posthaste/runtime";
import { type Door, reads, writes } from "../door.ts";
import { type ManagementPorts } from "../ports.ts";
import { changeOpen, findTenant } from "../tenants.ts";

export const keyRoutes = (
  door: Door,
  { accounts, random }: ManagementPorts,
): readonly RoutedPath[] => [
  {
    path: "/v2/tenants/:id/keys",
    methods: {
      GET: reads(door, async ({ param }) => {
        const tenant = await findTenant(accounts, param("id"));
        return isFault(tenant) ? tenant : reply(keysJson(tenant.keys));
      }),
    },
  },
  {
    path: "/v2/tenants/:id/keys/rotate",
    methods: {
      POST: writes(door, async ({ param }) => {
        const fresh = newSigningKey(random);
        const tenant = await changeOpen(accounts, param("id"), (stored) => ({
          ...stored,
          keys: { current: stored.keys.next, next: fresh },
        }));
        return isFault(tenant) ? tenant : reply(keysJson(tenant.keys));
      }),
    },
  },
];
