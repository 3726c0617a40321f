/**
 * Reads tenants and indexes page by page for lists. Only the holder of a read permit may read
 * (oxlint.config.ts).
 */
import { type ReadPermit } from "@posthaste/contract";
import {
  type Accounts,
  type AuditEntry,
  type AuditLog,
  type AuditPage,
  indexPages,
  type SearchIndex,
  type SearchIndexes,
  type Tenant,
  tenantPages,
} from "@posthaste/ports";

export type ReadPorts = {
  readonly accounts: Pick<Accounts, "tenantPage">;
  readonly indexes: Pick<SearchIndexes, "page">;
  readonly auditLog: Pick<AuditLog, "page">;
};

export type ReadsIn = (permit: ReadPermit) => {
  readonly tenants: () => AsyncGenerator<readonly Tenant[]>;
  readonly indexes: () => AsyncGenerator<readonly SearchIndex[]>;
  readonly changes: (asked: AuditPage) => Promise<readonly AuditEntry[]>;
};

export const createReads =
  ({ accounts, auditLog, indexes }: ReadPorts): ReadsIn =>
  (permit) => {
    const withPermit = <T>(read: () => T): T => {
      if (!permit.isTaken()) throw new Error("a read without a permit");
      return read();
    };
    return {
      tenants: () =>
        tenantPages({ tenantPage: (asked) => withPermit(() => accounts.tenantPage(asked)) }),
      changes: (asked) => withPermit(() => auditLog.page(asked)),
      indexes: () => indexPages({ page: (asked) => withPermit(() => indexes.page(asked)) }),
    };
  };
