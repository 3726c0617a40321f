/**
 * Reads tenants and indexes page by page for lists. Only the holder of a seat in the room for long answers may read
 * (oxlint.config.ts).
 */
import { type Seat } from "@posthaste/contract";
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

export type ReadsIn = (seat: Seat) => {
  readonly tenants: () => AsyncGenerator<readonly Tenant[]>;
  readonly indexes: () => AsyncGenerator<readonly SearchIndex[]>;
  readonly changes: (asked: AuditPage) => Promise<readonly AuditEntry[]>;
};

export const createReads =
  ({ accounts, auditLog, indexes }: ReadPorts): ReadsIn =>
  (seat) => {
    const seated = <T>(read: () => T): T => {
      if (!seat.isTaken()) throw new Error("a read without a seat");
      return read();
    };
    return {
      tenants: () =>
        tenantPages({ tenantPage: (asked) => seated(() => accounts.tenantPage(asked)) }),
      changes: (asked) => seated(() => auditLog.page(asked)),
      indexes: () => indexPages({ page: (asked) => seated(() => indexes.page(asked)) }),
    };
  };
