/** Builds the write of entries that join the history of their run: a part and the record of a delivery for each. */
import {
  type EntryDelivery,
  type EntryKey,
  entryMessage,
  keptDelivery,
  partOf,
  type Run,
  type RunPart,
} from "@posthaste/domain";
import { type RunWrite } from "@posthaste/ports";
import { type Deliveries } from "./deliveries.ts";

export type Entry = {
  readonly key: EntryKey;
  readonly body: Uint8Array;
  readonly delivery: EntryDelivery;
};

/** `run`: the run with the entries in it. The first entry has the rank `from`. */
export function entriesOf(
  run: Run,
  from: number,
  entries: readonly Entry[],
  deliveries: Deliveries,
  now: number,
): RunWrite {
  const messages = entries.map(({ delivery, key }) => entryMessage(run, key, delivery, now));
  const parts = entries.map(({ body, delivery, key }, i): RunPart => {
    const sent = keptDelivery(run, delivery, now);
    return { name: partOf(key), at: now, body, rank: from + i, ...(sent && { sent }) };
  });
  return { run, parts, deliveries: deliveries.of(messages, now) };
}
