/** What a start does for secrets that are stored already; `Accounts.secret` does it for its own when it is asked. */
import { type Accounts, indexPages, type SearchIndexes, tenantPages } from "@posthaste/ports";
import { sealAccounts } from "./sealed-accounts.ts";
import { sealIndexes } from "./sealed-indexes.ts";
import { type Sealer } from "./sealer.ts";

/**
 * Seals what is not sealed, or is with a key that is on its way out. `stored` are the store's own ports. Rejects when a
 * secret that it seals anew cannot be opened: a process without the right keys had better not start.
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
