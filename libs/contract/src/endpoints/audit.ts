/** The audit log of a tenant: the changes that its tokens and groups, and the operator, have made to it. */
import { changesSchema, ownAuditQuery } from "../audit.ts";
import { endpoint } from "./endpoint.ts";

export const audit = {
  listChanges: endpoint({
    method: "get",
    path: "/v2/audit",
    kind: "list",
    summary:
      "List the changes made to this tenant, the latest first: author, time, address and operation",
    query: ownAuditQuery,
    answers: { 200: { says: "A page of changes", schema: changesSchema, isLarge: true } },
    faults: [],
  }),
};
