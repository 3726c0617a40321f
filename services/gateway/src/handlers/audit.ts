/** `/v2/audit`: the changes that were made to the tenant. */
import { type audit, changesJson } from "@posthaste/contract";
import { type Clock } from "@posthaste/ports";
import { type ReadsIn } from "../reads.ts";
import { type Handlers } from "./handler.ts";

export type AuditParts = { readonly clock: Clock; readonly reads: ReadsIn };

export const auditHandlers = ({ clock, reads }: AuditParts): Handlers<keyof typeof audit> => ({
  listChanges: async ({ tenant, query: { limit, before } }) => ({
    status: 200,
    read: async (permit) => {
      const asked = { tenant: tenant.id, limit: limit + 1, now: clock.now() };
      const entries = await reads(permit).changes({
        ...asked,
        ...(before !== undefined && { before }),
      });
      return { json: changesJson(entries, limit, false) };
    },
  }),
});
