/** Accounts whose signing keys and secrets are sealed in the store. */
import { isFault } from "@posthaste/domain";
import { type Accounts, type Tenant } from "@posthaste/ports";
import { type Open, openedLately } from "./opened-lately.ts";
import { type Sealer } from "./sealer.ts";

/** Wraps `accounts` so that each key is opened when it is used. */
export function sealAccounts(accounts: Accounts, sealer: Sealer): Accounts {
  const { isFresh, seal } = sealer;
  const open = openedLately(sealer);
  return {
    tenants: async () => (await accounts.tenants()).map((tenant) => opened(tenant, open)),
    tenant: async (id) => {
      const tenant = await accounts.tenant(id);
      return tenant && opened(tenant, open);
    },
    tenantPage: async (page) =>
      (await accounts.tenantPage(page)).map((tenant) => opened(tenant, open)),
    tokens: () => accounts.tokens(),
    token: (hash) => accounts.token(hash),
    tokenPage: (page) => accounts.tokenPage(page),
    tokensOf: (tenant) => accounts.tokensOf(tenant),
    putToken: (token) => accounts.putToken(token),
    removeToken: (hash) => accounts.removeToken(hash),
    noteUses: (hashes, at) => accounts.noteUses(hashes, at),
    changedSince: (mark) => accounts.changedSince(mark),
    addTenant: (tenant) => accounts.addTenant(sealed(tenant, seal)),
    changeTenant: async (id, change) => {
      const answered = await accounts.changeTenant(id, (stored) => {
        const changed = change(opened(stored, open));
        return isFault(changed) ? changed : sealed(changed, seal);
      });
      return answered === undefined || isFault(answered) ? answered : opened(answered, open);
    },
    secret: async (name, make) => {
      const place = placeOfSecret(name);
      const stored = await accounts.secret(name, () => seal(make(), place));
      if (!isFresh(stored)) await changeSecret(name, (value) => value);
      return sealer.open(stored, place);
    },
    changeSecret,
  };

  function changeSecret(name: string, change: (value: string) => string): Promise<void> {
    const place = placeOfSecret(name);
    return accounts.changeSecret(name, (stored) => seal(change(sealer.open(stored, place)), place));
  }
}

const opened = (tenant: Tenant, open: Open): Tenant => ({
  ...tenant,
  keys: open(tenant.keys, (name) =>
    name === "current" ? placeOfKey(tenant.id) : placeOfNextKey(tenant.id),
  ),
});

const sealed = ({ keys, ...tenant }: Tenant, seal: Sealer["seal"]): Tenant => ({
  ...tenant,
  keys: {
    current: seal(keys.current, placeOfKey(tenant.id)),
    next: seal(keys.next, placeOfNextKey(tenant.id)),
  },
});

const placeOfKey = (id: string): string => `the signing key of ${id}`;
const placeOfNextKey = (id: string): string => `the next signing key of ${id}`;
const placeOfSecret = (name: string): string => `the secret ${name}`;
