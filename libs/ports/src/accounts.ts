/** Tenants, and the tokens that authenticate them. Management writes them; the gateway and the deliverer read them. */
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
   * Unix milliseconds. From this time on no token authenticates the tenant. Messages that the tenant sent before are still
   * delivered and signed with the tenant's keys. A closed tenant is kept, so that its id, and with it its records and logs, is
   * never given again.
   */
  readonly closedAt?: number;
  /** The console sessions that were signed out. */
  readonly endedSessions?: EndedSessions;
};

/** `hash` is the SHA-256 of the whole token, in base64url. The token itself is stored nowhere (docs/design/security#authentication). */
export type Token = {
  readonly hash: string;
  readonly tenant: TenantId;
  readonly scope: TokenScope;
  /** Given by the operator, for people. */
  readonly name?: string;
  /** Unix milliseconds. Absent from tokens that predate this field. */
  readonly createdAt?: number;
  /** Unix milliseconds. From this time on the token authenticates no request. */
  readonly expiresAt?: number;
  /** Unix milliseconds, at most about a minute after the latest use. Absent until the first use is noted. */
  readonly usedAt?: number;
};

/** A reader's position in the changes. `changedSince` returns it, and only `changedSince` interprets it. */
export type AccountsMark = { readonly version: number; readonly wholeAtMs?: number };

export type AccountChanges = {
  readonly mark: AccountsMark;
  /** The tenants that changed, or whose tokens changed; "all" if the adapter cannot tell. */
  readonly tenants: readonly TenantId[] | "all";
};

export interface TenantAccounts {
  tenants(): Promise<readonly Tenant[]>;
  tenant(id: TenantId): Promise<Tenant | undefined>;
  /** Returns tenants after `after` in id order; "" is before all ids. */
  tenantPage(page: { readonly after: string; readonly limit: number }): Promise<readonly Tenant[]>;
  /** Returns false when a tenant with this id exists; that tenant stays unchanged. */
  addTenant(tenant: Tenant): Promise<boolean>;
  /**
   * Reads, changes and writes the tenant atomically, so that no change is lost. `change` may be called several times; only the
   * result of the last call counts, and a fault leaves the tenant unchanged. Returns undefined when there is no such tenant.
   */
  changeTenant(
    id: TenantId,
    change: (tenant: Tenant) => Tenant | Fault,
  ): Promise<Tenant | Fault | undefined>;
}

export interface TokenAccounts {
  tokens(): Promise<readonly Token[]>;
  token(hash: string): Promise<Token | undefined>;
  /** Returns tokens after `after` in hash order; "" is before all hashes. */
  tokenPage(page: { readonly after: string; readonly limit: number }): Promise<readonly Token[]>;
  tokensOf(tenant: TenantId): Promise<readonly Token[]>;
  /** Stores a token, and replaces one with the same hash. */
  putToken(token: Token): Promise<void>;
  removeToken(hash: string): Promise<void>;
  /**
   * Notes that tokens were used at `at`, unless a later use is noted. `changedSince` does not report this as a
   * change. Hashes of no token are ignored.
   */
  noteUses(hashes: readonly string[], at: number): Promise<void>;
}

export interface SecretAccounts {
  /** Returns the named secret of this installation, which `make` creates on first use. Used to sign cursors. */
  secret(name: string, make: () => string): Promise<string>;
  /** Changes a secret as `changeTenant` changes a tenant. Does nothing when no secret has this name. */
  changeSecret(name: string, change: (value: string) => string): Promise<void>;
}

export interface Accounts extends TenantAccounts, TokenAccounts, SecretAccounts {
  /**
   * Returns the changes since `mark` was returned, without reading tenants and tokens. A change that was answered is reported
   * from then on. A change whose answer was lost, or that an older Posthaste made, is reported within a minute.
   */
  changedSince(mark: AccountsMark | undefined): Promise<AccountChanges>;
}
