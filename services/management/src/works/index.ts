/** The work of management for each endpoint. A missing or extra one, or an answer that its row does not name, does not compile. */
import { type ManagementOperationId } from "@posthaste/contract";
import { type WorkParts } from "../ports.ts";
import { auditWorks } from "./audit.ts";
import { searchIndexWorks } from "./search-indexes.ts";
import { tenantKeyWorks } from "./tenant-keys.ts";
import { tenantWorks } from "./tenants.ts";
import { tokenWorks } from "./tokens.ts";
import { type Works } from "./work.ts";

export const managementWorks = (ports: WorkParts): Works<ManagementOperationId> => ({
  ...searchIndexWorks(ports),
  ...tenantWorks(ports),
  ...tokenWorks(ports),
  ...tenantKeyWorks(ports),
  ...auditWorks(ports),
});
