/** Accounts whose signing keys and secrets the store sees sealed only. */
import { isFault } from "@posthaste/domain";
import { type Accounts, type Tenant } from "@posthaste/ports";
import { type Sealer } from "./sealer.ts";

/** The same accounts, opened. What an older Posthaste has stored unsealed is read, too. */
export function sealAccounts(accounts: Accounts, sealer: Sealer): Accounts {
  const { isFresh, open, seal } = sealer;
  return {
    tenants: async () => (await accounts.tenants()).map((tenant) => withKeys(tenant, open)),
    tenant: async (id) => {
      const tenant = await accounts.tenant(id);
      return tenant && withKeys(tenant, open);
    },
    tenantPage: async (page) =>
      (await accounts.tenantPage(page)).map((tenant) => withKeys(tenant, open)),
    tokens: () => accounts.tokens(),
    token: (hash) => accounts.token(hash),
    tokenPage: (page) => accounts.tokenPage(page),
    tokensOf: (tenant) => accounts.tokensOf(tenant),
    putToken: (token) => accounts.putToken(token),
    removeToken: (hash) => accounts.removeToken(hash),
    changedSince: (mark) => accounts.changedSince(mark),
    addTenant: (tenant) => accounts.addTenant(withKeys(tenant, seal)),
    changeTenant: async (id, change) => {
      const answered = await accounts.changeTenant(id, (stored) => {
        const changed = change(withKeys(stored, open));
        return isFault(changed) ? changed : withKeys(changed, seal);
      });
      return answered === undefined || isFault(answered) ? answered : withKeys(answered, open);
    },
    secret: async (name, make) => {
      const place = placeOfSecret(name);
      const stored = await accounts.secret(name, () => seal(make(), place));
      if (!isFresh(stored)) await changeSecret(name, (value) => value);
      return open(stored, place);
    },
    changeSecret,
  };

  function changeSecret(name: string, change: (value: string) => string): Promise<void> {
    const place = placeOfSecret(name);
    return accounts.changeSecret(name, (stored) => seal(change(open(stored, place)), place));
  }
}

const withKeys = (tenant: Tenant, turn: (text: string, place: string) => string): Tenant => ({
  ...tenant,
  keys: {
    current: turn(tenant.keys.current, `the signing key of ${tenant.id}`),
    next: turn(tenant.keys.next, `the next signing key of ${tenant.id}`),
  },
});

const placeOfSecret = (name: string): string => `the secret ${name}`;
