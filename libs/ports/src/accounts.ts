/** Tenants and what proves to be one. Written by management, read by the gateway and the deliverer. */
import {
  type Dialect,
  type EndedSessions,
  type Fault,
  type Plan,
  type TenantId,
  type TokenScope,
} from "@posthaste/domain";

export type SigningKeys = { readonly current: string; readonly next: string };

export type Tenant = {
  readonly id: TenantId;
  readonly dialect: Dialect;
  readonly plan: Plan;
  readonly keys: SigningKeys;
  /**
   * Unix milliseconds. From then on no token proves to be this tenant, while what it has sent is still delivered, signed
   * with its keys. A closed tenant stays, so that its id, and with it its records and logs, is not given again.
   */
  readonly closedAt?: number;
  /** Sessions of the console that were signed out of. */
  readonly endedSessions?: EndedSessions;
};

/** `hash` is the SHA-256 of the whole token, in base64url: the token itself is kept nowhere (docs/design/security#authentication). */
export type Token = {
  readonly hash: string;
  readonly tenant: TenantId;
  readonly scope: TokenScope;
  /** Unix milliseconds; absent of tokens from before this was kept. */
  readonly createdAt?: number;
};

/** How far a reader has come with what is changed. Given by `changedSince`, and understood by it alone. */
export type AccountsMark = { readonly version: number; readonly wholeAtMs?: number };

export type AccountChanges = {
  readonly mark: AccountsMark;
  /** Each tenant that was changed, or whose tokens were; "all" where they cannot be told apart. */
  readonly tenants: readonly TenantId[] | "all";
};

export interface Accounts {
  tenants(): Promise<readonly Tenant[]>;
  tenant(id: TenantId): Promise<Tenant | undefined>;
  /** In the order of their ids, from behind `after`; "" is before all of them. */
  tenantPage(page: { readonly after: string; readonly limit: number }): Promise<readonly Tenant[]>;
  tokens(): Promise<readonly Token[]>;
  token(hash: string): Promise<Token | undefined>;
  /** In the order of their hashes, from behind `after`; "" is before all of them. */
  tokenPage(page: { readonly after: string; readonly limit: number }): Promise<readonly Token[]>;
  tokensOf(tenant: TenantId): Promise<readonly Token[]>;
  /** False: there is one of this id, and it stays as it is. */
  addTenant(tenant: Tenant): Promise<boolean>;
  /**
   * Reads, changes and writes as one, so that no change is lost. `change` may be called several times, and only the result
   * of its last call counts; when that is a fault, the tenant stays as it is. Undefined: no such tenant.
   */
  changeTenant(
    id: TenantId,
    change: (tenant: Tenant) => Tenant | Fault,
  ): Promise<Tenant | Fault | undefined>;
  /** A token with the same hash is replaced. */
  putToken(token: Token): Promise<void>;
  removeToken(hash: string): Promise<void>;
  /**
   * Tells what was changed since it gave `mark`, without a look at tenants and tokens. A change is told from when it was
   * answered; the adapter tells one that was not, or that an older Posthaste has made, within a minute.
   */
  changedSince(mark: AccountsMark | undefined): Promise<AccountChanges>;
  /** A secret of this installation by name, made by `make` on first use; for signing cursors. */
  secret(name: string, make: () => string): Promise<string>;
  /** As `changeTenant`; nothing when there is none of this name. */
  changeSecret(name: string, change: (value: string) => string): Promise<void>;
}
