/** The audit log of the installation. */
import { changesSchema, wholeAuditQuery } from "../audit.ts";
import { endpoint } from "../endpoints/endpoint.ts";

export const wholeAudit = {
  listAllChanges: endpoint({
    method: "get",
    path: "/v2/audit/all",
    kind: "list",
    summary: "List the changes that tenants and operators have made, the latest first",
    query: wholeAuditQuery,
    answers: { 200: { says: "A page of changes", schema: changesSchema, isLarge: true } },
    faults: ["forbidden"],
  }),
};
