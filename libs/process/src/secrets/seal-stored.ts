/** Seals stored secrets anew at a start. `Accounts.secret` does so for its own when it is called. */
import { type Accounts, indexPages, type SearchIndexes, tenantPages } from "@posthaste/ports";
import { sealAccounts } from "./sealed-accounts.ts";
import { sealIndexes } from "./sealed-indexes.ts";
import { type Sealer } from "./sealer.ts";

/**
 * Seals secrets that are sealed with a key that is being replaced. `stored` are the store's own
 * ports. Rejects when a secret to be sealed anew cannot be opened: a process without the right keys should not start.
 */
export async function sealStored(
  stored: { readonly accounts: Accounts; readonly indexes: SearchIndexes },
  sealer: Sealer,
): Promise<void> {
  const accounts = sealAccounts(stored.accounts, sealer);
  for await (const page of tenantPages(stored.accounts))
    for (const { id, keys } of page) {
      if (sealer.isFresh(keys.current) && sealer.isFresh(keys.next)) continue;
      await accounts.changeTenant(id, (tenant) => tenant);
    }
  const indexes = sealIndexes(stored.indexes, sealer);
  for await (const page of indexPages(stored.indexes))
    for (const { id, tokens } of page) {
      if (sealer.isFresh(tokens.full) && sealer.isFresh(tokens.readOnly)) continue;
      await indexes.change(id, (index) => index);
    }
}
