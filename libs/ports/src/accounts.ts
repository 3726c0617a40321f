/** Tenants and what proves to be one. Written by management, read by the gateway and the deliverer. */
import { type Dialect, type Plan, type TenantId } from "@posthaste/domain";

export type SigningKeys = { readonly current: string; readonly next: string };

export type Tenant = {
  readonly id: TenantId;
  readonly dialect: Dialect;
  readonly plan: Plan;
  readonly keys: SigningKeys;
};

export type TokenScope = "full" | "read";
/** `hash` is the SHA-256 of the whole token, in base64url: the token itself is kept nowhere (decisions.md 24). */
export type Token = {
  readonly hash: string;
  readonly tenant: TenantId;
  readonly scope: TokenScope;
};

export interface Accounts {
  tenants(): Promise<readonly Tenant[]>;
  tokens(): Promise<readonly Token[]>;
  putTenant(tenant: Tenant): Promise<void>;
  putToken(token: Token): Promise<void>;
  /** A secret of this installation by name, made by `make` on first use; for signing cursors. */
  secret(name: string, make: () => string): Promise<string>;
}
