/** `/v2/audit/all`: the changes that tenants and operators have made. */
import { changesJson, type wholeAudit } from "@posthaste/contract";
import { tenantId } from "@posthaste/domain";
import { type WorkParts } from "../ports.ts";
import { type Works } from "./work.ts";

export const auditWorks = ({ clock, reads }: WorkParts): Works<keyof typeof wholeAudit> => ({
  listAllChanges: async ({ query: { limit, before, tenant } }) => ({
    status: 200,
    read: async (permit) => {
      const entries = await reads(permit).changes({
        limit: limit + 1,
        now: clock.now(),
        ...(before !== undefined && { before }),
        ...(tenant !== undefined && { tenant: tenantId(tenant) }),
      });
      return { json: changesJson(entries, limit, true) };
    },
  }),
});
