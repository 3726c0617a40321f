import {
  type Accounts,
  type AuditLog,
  type BulkActions,
  type Clock,
  type Ids,
  type Log,
  type Random,
  type SearchIndexes,
} from "@posthaste/ports";
import { type ReadsIn } from "./reads.ts";

/** `accounts` and `indexes` are opened ports: management sees secrets in plain text, the store sees them sealed. */
export type ManagementPorts = {
  readonly accounts: Accounts;
  readonly indexes: SearchIndexes;
  readonly auditLog: AuditLog;
  readonly bulkActions: BulkActions;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

export type HandlerParts = ManagementPorts & { readonly reads: ReadsIn };
