/** The contract of `Queues`: the properties that the engine relies on, whichever store keeps the turns. */
import { contract } from "./guarantee.ts";
import { type QueuesHarness } from "./queues/harness.ts";
import { groups } from "./queues/groups.ts";
import { settings } from "./queues/settings.ts";
import { turns } from "./queues/turns.ts";

/** `open` makes an empty store. `advance` moves the store's clock. */
export function describeQueues(name: string, open: () => Promise<QueuesHarness>): void {
  contract(`${name}: queues`, open, {}, (it) => {
    turns(it);
    settings(it);
    groups(it);
  });
}
