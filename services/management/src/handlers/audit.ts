/** `/v2/audit/all`: the changes that tenants and operators have made. */
import { changesJson, type wholeAudit } from "@posthaste/contract";
import { tenantId } from "@posthaste/domain";
import { type HandlerParts } from "../ports.ts";
import { type Handlers } from "./handler.ts";

export const auditHandlers = ({
  clock,
  reads,
}: HandlerParts): Handlers<keyof typeof wholeAudit> => ({
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
