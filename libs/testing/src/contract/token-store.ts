/** The contract of `TokenStore`: deduplication windows that swallow no message, and slots and rates that cannot leak or overshoot. */
import { contract } from "./guarantee.ts";
import { deduplication } from "./token-store/deduplication.ts";
import { flowSlots } from "./token-store/flow-slots.ts";
import { spending } from "./token-store/spending.ts";
import { type TokenStoreHarness } from "./token-store/harness.ts";

export function describeTokenStore(
  name: string,
  open: () => Promise<TokenStoreHarness>,
  waitMsMax = Number.POSITIVE_INFINITY,
): void {
  contract(`${name}: a token store`, open, { waitMsMax }, (it) => {
    deduplication(it);
    flowSlots(it);
    spending(it);
  });
}
