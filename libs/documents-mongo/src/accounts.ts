/** The Accounts port: a document for each tenant, token and secret, all found by `_id`. */
import { type Accounts, type Tenant, type Token } from "@posthaste/ports";
import { completePlan, tokenScopeFrom } from "@posthaste/domain";
import { type Connection } from "./connection.ts";
import { type Index } from "./indexes.ts";
import { openKept } from "./kept.ts";

type TokenDocument = Omit<Token, "hash"> & { readonly _id: string };

type TenantAccounts = Pick<
  Accounts,
  "tenants" | "tenant" | "tenantPage" | "addTenant" | "changeTenant"
>;
type TokenAccounts = Pick<Accounts, "tokens" | "tokensOf" | "putToken" | "removeToken">;
type SecretAccounts = Pick<Accounts, "secret" | "changeSecret">;

export const accountIndexes: readonly Index[] = [{ collection: "tokens", key: { tenant: 1 } }];

export const createAccounts = (connection: Connection): Accounts => ({
  ...createTenants(connection),
  ...createTokens(connection),
  ...createSecrets(connection),
});

function createTenants(connection: Connection): TenantAccounts {
  const { add, all, change, get, page } = openKept<Tenant>(connection, "tenants");
  return {
    tenants: async () => (await all()).map(complete).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    tenant: async (id) => {
      const tenant = await get(id);
      return tenant && complete(tenant);
    },
    tenantPage: async (asked) => (await page(asked)).map(complete),
    addTenant: (tenant) => add(tenant.id, tenant),
    changeTenant: (id, decide) => change(id, (tenant) => decide(complete(tenant))),
  };
}

const complete = (tenant: Tenant): Tenant => ({ ...tenant, plan: completePlan(tenant.plan) });

function createTokens({ again, collection }: Connection): TokenAccounts {
  const tokens = collection<TokenDocument>("tokens");
  return {
    tokens: async () => {
      const found = await again(() => tokens.find().sort({ _id: 1 }).toArray());
      return found.map(tokenOf);
    },
    tokensOf: async (tenant) => {
      const found = await again(() => tokens.find({ tenant }).sort({ _id: 1 }).toArray());
      return found.map(tokenOf);
    },
    putToken: async ({ hash, ...token }) => {
      await again(() => tokens.replaceOne({ _id: hash }, token, { upsert: true }));
    },
    removeToken: async (hash) => {
      await again(() => tokens.deleteOne({ _id: hash }));
    },
  };
}

const tokenOf = ({ _id, scope, ...token }: TokenDocument): Token => ({
  hash: _id,
  scope: tokenScopeFrom(scope),
  ...token,
});

/** What is not known to be full is read-only. */

function createSecrets(connection: Connection): SecretAccounts {
  const { add, change, get } = openKept<string>(connection, "secrets");
  return {
    secret: async (name, make) => {
      const known = await get(name);
      if (known !== undefined) return known;
      const made = make();
      await add(name, made);
      return (await get(name)) ?? made;
    },
    changeSecret: async (name, to) => {
      await change<never>(name, to);
    },
  };
}
