/** The contract of `MessageStore`: what the engine relies on, whoever keeps the records. */
import { contract, type Deviation } from "./guarantee.ts";
import { accepting } from "./message-store/accepting.ts";
import { canceling } from "./message-store/canceling.ts";
import { claiming } from "./message-store/claiming.ts";
import { expanding } from "./message-store/expanding.ts";
import { type MessageStoreHarness } from "./message-store/harness.ts";
import { lanes } from "./message-store/lanes.ts";
import { outbox } from "./message-store/outbox.ts";
import { pulling } from "./message-store/pulling.ts";
import { removing } from "./message-store/removing.ts";
import { ringing } from "./message-store/ringing.ts";
import { settling } from "./message-store/settling.ts";

/**
 * `open` makes an empty store. `advance` moves the store's clock, or waits; `waitMsMax` says how long it may be asked
 * to.
 */
export function describeMessageStore(
  name: string,
  open: () => Promise<MessageStoreHarness>,
  deviations: readonly Deviation[] = [],
  waitMsMax?: number,
): void {
  const options = { deviations, ...(waitMsMax !== undefined && { waitMsMax }) };
  contract(`${name}: a message store`, open, options, (guarantee) => {
    accepting(guarantee);
    claiming(guarantee);
    settling(guarantee);
    outbox(guarantee);
    ringing(guarantee);
    pulling(guarantee);
    canceling(guarantee);
    lanes(guarantee);
    expanding(guarantee);
    removing(guarantee);
  });
}
