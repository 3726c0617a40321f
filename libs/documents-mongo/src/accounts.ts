/** The Accounts port: a document for each tenant, token and secret, all found by `_id`. */
import {
  type AccountsMark,
  type Accounts,
  type ChangedAccounts,
  changedTenantsMax,
  changesOf,
  noChangedAccounts,
  type Tenant,
  type Token,
  type TenantAccounts,
  type TokenAccounts,
  type SecretAccounts,
} from "@posthaste/ports";
import { completePlan, isFault, type TenantId, tokenScopeFrom } from "@posthaste/domain";
import { type Connection } from "./connection.ts";
import { type Index } from "./indexes.ts";
import { openKept } from "./writes/kept.ts";

type ChangedDocument = ChangedAccounts & { readonly _id: "accounts" };

type TokenDocument = Omit<Token, "hash"> & { readonly _id: string };

export const accountIndexes: readonly Index[] = [
  { collection: "tokens", key: { tenant: 1 }, is: "needed" },
];

type Changed = (tenant: TenantId) => Promise<void>;

/**
 * A reader takes all tenants as changed after this time: a process may have died between its write and recording the
 * change, and an older Posthaste records no change.
 */
const wholeEveryMs = 60_000;

export function createAccounts(connection: Connection): Accounts {
  const { again, clock, collection } = connection;
  const changes = collection<ChangedDocument>("account_changes");
  const changed: Changed = async (tenant) => {
    const push = { tenants: { $each: [tenant], $slice: -changedTenantsMax } };
    const update = { $inc: { version: 1 }, $push: push };
    await again(() => changes.updateOne({ _id: "accounts" }, update, { upsert: true }));
  };
  const isOld = ({ wholeAtMs = 0 }: AccountsMark): boolean =>
    clock.passedMs() - wholeAtMs >= wholeEveryMs;

  return {
    ...createTenants(connection, changed),
    ...createTokens(connection, changed),
    ...createSecrets(connection),
    changedSince: async (mark) => {
      const recent = (await again(() => changes.findOne({ _id: "accounts" }))) ?? noChangedAccounts;
      const { version } = recent;
      const tenants = changesOf(recent, mark && !isOld(mark) ? mark.version : undefined);
      const wholeAtMs = tenants === "all" ? clock.passedMs() : (mark?.wholeAtMs ?? 0);
      return { mark: { version, wholeAtMs }, tenants };
    },
  };
}

function createTenants(connection: Connection, changed: Changed): TenantAccounts {
  const { add, all, change, get, page } = openKept<Tenant>(connection, "tenants");
  return {
    tenants: async () => (await all()).map(complete).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    tenant: async (id) => {
      const tenant = await get(id);
      return tenant && complete(tenant);
    },
    tenantPage: async (asked) => (await page(asked)).map(complete),
    addTenant: async (tenant) => {
      const added = await add(tenant.id, tenant);
      if (added) await changed(tenant.id);
      return added;
    },
    changeTenant: async (id, decide) => {
      const answered = await change(id, (tenant) => decide(complete(tenant)));
      if (answered !== undefined && !isFault(answered)) await changed(id);
      return answered;
    },
  };
}

const complete = (tenant: Tenant): Tenant => ({ ...tenant, plan: completePlan(tenant.plan) });

function createTokens({ again, collection }: Connection, changed: Changed): TokenAccounts {
  const tokens = collection<TokenDocument>("tokens");
  return {
    tokens: async () => {
      const found = await again(() => tokens.find().sort({ _id: 1 }).toArray());
      return found.map(tokenOf);
    },
    token: async (hash) => {
      const found = await again(() => tokens.findOne({ _id: hash }));
      return found ? tokenOf(found) : undefined;
    },
    tokenPage: async ({ after, limit }) => {
      const behind = { _id: { $gt: after } };
      const found = await again(() => tokens.find(behind).sort({ _id: 1 }).limit(limit).toArray());
      return found.map(tokenOf);
    },
    tokensOf: async (tenant) => {
      const found = await again(() => tokens.find({ tenant }).sort({ _id: 1 }).toArray());
      return found.map(tokenOf);
    },
    putToken: async ({ hash, ...token }) => {
      await again(() => tokens.replaceOne({ _id: hash }, token, { upsert: true }));
      await changed(token.tenant);
    },
    removeToken: async (hash) => {
      // Read first: a repeated delete finds no token, if the reply to the first was lost.
      const token = await again(() => tokens.findOne({ _id: hash }));
      if (!token) return;
      await again(() => tokens.deleteOne({ _id: hash }));
      await changed(token.tenant);
    },
    noteUses: async (hashes, at) => {
      const used = { _id: { $in: [...hashes] } };
      await again(() => tokens.updateMany(used, { $max: { usedAt: at } }));
    },
  };
}

const tokenOf = ({ _id, scope, ...token }: TokenDocument): Token => ({
  hash: _id,
  scope: tokenScopeFrom(scope),
  ...token,
});

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
