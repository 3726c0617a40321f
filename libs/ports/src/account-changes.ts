/** Follows the accounts: the record that adapters keep of recent changes, and a reader that reads only the changed tenants. */
import { type TenantId } from "@posthaste/domain";
import { type AccountChanges, type Accounts, type Tenant, type Token } from "./accounts.ts";

/** The changes that an adapter keeps: their count, and the tenants of the latest ones, oldest first. */
export type ChangedAccounts = { readonly version: number; readonly tenants: readonly TenantId[] };

export const noChangedAccounts: ChangedAccounts = { version: 0, tenants: [] };

/** After more changes than this between two readings, a reader reads all accounts. */
export const changedTenantsMax = 100;

const pageMax = 200;

export const withChanged = (changed: ChangedAccounts, tenant: TenantId): ChangedAccounts => ({
  version: changed.version + 1,
  tenants: [...changed.tenants, tenant].slice(-changedTenantsMax),
});

/**
 * Returns the tenants changed since version `since`, each once. A `since` ahead of `version` means that the store was set back;
 * the result is then "all".
 */
export function changesOf(
  { version, tenants }: ChangedAccounts,
  since: number | undefined,
): AccountChanges["tenants"] {
  const count = since === undefined ? Number.POSITIVE_INFINITY : version - since;
  if (count < 0 || count > tenants.length) return "all";
  return [...new Set(tenants.slice(tenants.length - count))];
}

export type AccountFollower = {
  /** Reads the changed tenants. A change that was answered before the call has been read when the promise resolves. */
  readonly refresh: () => Promise<void>;
  /** Reads one tenant, whether or not it changed. */
  readonly look: (tenant: TenantId) => Promise<void>;
};

/** Calls `read` for the tenants to be read again, one call at a time, so that no older reading overwrites a newer one. */
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
    // A refresh that has not begun yet serves every caller that arrives before it begins.
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

/** Yields all tenants page by page; other work can run between two pages. */
export const tenantPages = (
  accounts: Pick<Accounts, "tenantPage">,
): AsyncGenerator<readonly Tenant[]> =>
  pages(
    (after) => accounts.tenantPage({ after, limit: pageMax }),
    ({ id }) => id,
  );

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
  // Each page begins after the last one, so the loop ends with the items.
  for (;;) {
    const page = await read(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = placeOf(last);
  }
}
