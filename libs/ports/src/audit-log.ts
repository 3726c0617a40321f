/** The audit log: who has changed what, from where, and with what result. Never holds bodies, queries or secrets. */
import { type OperatorRole, type TenantId } from "@posthaste/domain";

/** The author of a change: a token of the tenant, a group of its provider, or the operator, by password or by a group. */
export type Actor = {
  readonly kind: "token" | "group" | "operator";
  readonly id: string;
  readonly name?: string;
  /** The role of the operator. */
  readonly role?: OperatorRole;
  /** The beginning of the id of the console's session. */
  readonly session?: string;
};

export type AuditEntry = {
  /** Later entries have higher ids. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Absent if a change concerns no tenant. */
  readonly tenant?: TenantId;
  readonly by: Actor;
  readonly operation: string;
  readonly resource: string;
  readonly address: string;
  /** "done" or the code of the fault. Absent until the change has ended, and for ever if the process died before. */
  readonly result?: string;
  /** Unix milliseconds. From this time on the entry is not listed, and later entries remove it. */
  readonly expiresAt: number;
};

export type AuditPage = {
  /** Absent for entries of all tenants, and of none. */
  readonly tenant?: TenantId;
  /** The id of the last entry of the page before. */
  readonly before?: string;
  readonly limit: number;
  readonly now: number;
};

export interface AuditLog {
  /**
   * Writes the entry of a change that is about to be made. Resolves when no change that is made afterwards can become durable without
   * the entry. Removes a few entries that have expired by `entry.at`.
   */
  begin(entry: AuditEntry): Promise<void>;
  /** Writes the entry with its result, whether or not it was begun. */
  end(entry: AuditEntry): Promise<void>;
  /** Returns entries that have not expired, the latest first. */
  page(asked: AuditPage): Promise<readonly AuditEntry[]>;
}
