/** Following the accounts: which of them have changed of late, as adapters keep it, and reading those alone. */
import { type TenantId } from "@posthaste/domain";
import { type AccountChanges, type Accounts, type Tenant, type Token } from "./accounts.ts";

/** The changes that an adapter keeps: how many there have been, and the tenants of the last of them, oldest first. */
export type ChangedAccounts = { readonly version: number; readonly tenants: readonly TenantId[] };

export const noChangedAccounts: ChangedAccounts = { version: 0, tenants: [] };

/** More between two readings, and all accounts are read. */
export const changedTenantsMax = 100;

const pageMax = 200;

export const withChanged = (changed: ChangedAccounts, tenant: TenantId): ChangedAccounts => ({
  version: changed.version + 1,
  tenants: [...changed.tenants, tenant].slice(-changedTenantsMax),
});

/** Each once. A version that is yet to come is of a store that was set back: nothing of it holds. */
export function changesOf(
  { version, tenants }: ChangedAccounts,
  since: number | undefined,
): AccountChanges["tenants"] {
  const count = since === undefined ? Number.POSITIVE_INFINITY : version - since;
  if (count < 0 || count > tenants.length) return "all";
  return [...new Set(tenants.slice(tenants.length - count))];
}

export type AccountFollower = {
  /** Has what was changed read. What was answered before the call is read when it resolves. */
  readonly refresh: () => Promise<void>;
  /** Has one tenant read, whether or not it was changed. */
  readonly look: (tenant: TenantId) => Promise<void>;
};

/** Calls `read` for what is to be read again, and never while it reads: no reading is undone by an older one. */
export function followAccounts(
  accounts: Pick<Accounts, "changedSince">,
  read: (tenants: AccountChanges["tenants"]) => Promise<void>,
): AccountFollower {
  let mark: AccountChanges["mark"] | undefined;
  let last: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;

  function inTurn(work: () => Promise<void>): Promise<void> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

  return {
    // A refresh that has not begun serves all that ask meanwhile.
    refresh: () =>
      (waiting ??= inTurn(async () => {
        waiting = undefined;
        const changes = await accounts.changedSince(mark);
        if (changes.tenants.length > 0) await read(changes.tenants);
        mark = changes.mark;
      })),
    look: (tenant) => inTurn(() => read([tenant])),
  };
}

/** All tenants, some at a time: other work has its turn between two pages. */
export const tenantPages = (
  accounts: Pick<Accounts, "tenantPage">,
): AsyncGenerator<readonly Tenant[]> =>
  pages(
    (after) => accounts.tenantPage({ after, limit: pageMax }),
    ({ id }) => id,
  );

/** As `tenantPages`. */
export const tokenPages = (
  accounts: Pick<Accounts, "tokenPage">,
): AsyncGenerator<readonly Token[]> =>
  pages(
    (after) => accounts.tokenPage({ after, limit: pageMax }),
    ({ hash }) => hash,
  );

async function* pages<T>(
  read: (after: string) => Promise<readonly T[]>,
  placeOf: (item: T) => string,
): AsyncGenerator<readonly T[]> {
  let after = "";
  // Each page begins behind the last, so this ends with the items.
  for (;;) {
    const page = await read(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = placeOf(last);
  }
}
