/** The Accounts port: a document for each tenant, token and secret, all found by `_id`. */
import { type TenantId } from "@posthaste/domain";
import { type Accounts, type Tenant, type Token, type TokenScope } from "@posthaste/ports";
import { changeByToken, type Kept, newWrite } from "./change-by-token.ts";
import { type Connection } from "./connection.ts";
import { insertMissing } from "./insert-missing.ts";

type TenantDocument = Kept<Tenant, TenantId>;
type TokenDocument = Omit<Token, "hash"> & { readonly _id: string };
type SecretDocument = Kept<string, string>;

type TenantAccounts = Pick<Accounts, "tenants" | "addTenant" | "changeTenant">;
type TokenAccounts = Pick<Accounts, "tokens" | "putToken" | "removeToken">;
type SecretAccounts = Pick<Accounts, "secret" | "changeSecret">;

export const createAccounts = (connection: Connection): Accounts => ({
  ...createTenants(connection),
  ...createTokens(connection),
  ...createSecrets(connection),
});

function createTenants({ again, collection, random }: Connection): TenantAccounts {
  const tenants = collection<TenantDocument>("tenants");
  const find = async (_id: TenantId) => (await again(() => tenants.findOne({ _id })))?.now;
  return {
    tenants: async () => {
      const found = await again(() => tenants.find().sort({ _id: 1 }).toArray());
      return found.map(({ now }) => now.item);
    },
    addTenant: async (item) => {
      const { id: _id } = item;
      const write = newWrite(random);
      const known = await insertMissing(again, tenants, [{ _id, now: { item, write } }]);
      // Our own, when the reply of the first try was lost.
      return known.size === 0 || (await find(_id))?.write === write;
    },
    changeTenant: (_id, change) =>
      changeByToken(
        {
          random,
          find: () => find(_id),
          swap: async (write, next) => {
            const seen = { _id, "now.write": write };
            const swapped = await again(() => tenants.updateOne(seen, { $set: { now: next } }));
            return swapped.matchedCount > 0;
          },
        },
        change,
      ),
  };
}

function createTokens({ again, collection }: Connection): TokenAccounts {
  const tokens = collection<TokenDocument>("tokens");
  return {
    tokens: async () => {
      const found = await again(() => tokens.find().sort({ _id: 1 }).toArray());
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
  scope: scopeFrom(scope),
  ...token,
});

/** What is not known to be full is read-only. */
const scopeFrom = (scope: string): TokenScope => (scope === "full" ? "full" : "read");

function createSecrets({ again, collection, random }: Connection): SecretAccounts {
  const secrets = collection<SecretDocument>("secrets");
  const find = async (_id: string) => (await again(() => secrets.findOne({ _id })))?.now;
  return {
    secret: async (name, make) => {
      const known = await find(name);
      if (known) return known.item;
      const made = { item: make(), write: newWrite(random) };
      await insertMissing(again, secrets, [{ _id: name, now: made }]);
      return (await find(name))?.item ?? made.item;
    },
    changeSecret: async (name, change) => {
      await changeByToken(
        {
          random,
          find: () => find(name),
          swap: async (write, next) => {
            const seen = { _id: name, "now.write": write };
            const swapped = await again(() => secrets.updateOne(seen, { $set: { now: next } }));
            return swapped.matchedCount > 0;
          },
        },
        change,
      );
    },
  };
}
