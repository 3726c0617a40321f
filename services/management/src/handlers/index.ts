/** The handlers of management, one for each endpoint. A missing or extra one, or an answer that its row does not name, does not compile. */
import { type ManagementOperationId } from "@posthaste/contract";
import { type HandlerParts } from "../ports.ts";
import { auditHandlers } from "./audit.ts";
import { searchIndexHandlers } from "./search-indexes.ts";
import { tenantKeyHandlers } from "./tenant-keys.ts";
import { tenantHandlers } from "./tenants.ts";
import { tokenHandlers } from "./tokens.ts";
import { type Handlers } from "./handler.ts";

export const managementHandlers = (ports: HandlerParts): Handlers<ManagementOperationId> => ({
  ...searchIndexHandlers(ports),
  ...tenantHandlers(ports),
  ...tokenHandlers(ports),
  ...tenantKeyHandlers(ports),
  ...auditHandlers(ports),
});
