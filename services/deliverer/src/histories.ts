/**
 * Keeps the histories of recently delivered runs in memory. Each delivery carries all entries of the one before, so
 * only the new ones are read. A history only grows, so a kept entry is never wrong.
 */
import { historyBody, historyFragment } from "@posthaste/contract";
import { type HistoryEntry, type MessageId } from "@posthaste/domain";

type Kept = { readonly fragments: Uint8Array[]; bytes: number };

export class Histories {
  readonly #bytesMax: number;
  /** Ordered by use; the most recently used is last. */
  readonly #kept = new Map<MessageId, Kept>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns how many of the run's first entries are kept. */
  known(root: MessageId): number {
    return this.#kept.get(root)?.fragments.length ?? 0;
  }

  /** Returns the history up to entry `rank`, with `entries` appended to the first `from`; undefined when those are no longer kept. */
  body(
    root: MessageId,
    from: number,
    rank: number,
    entries: readonly HistoryEntry[],
  ): Uint8Array | undefined {
    const { bytes, fragments } = this.#kept.get(root) ?? { bytes: 0, fragments: [] };
    if (fragments.length < from) return undefined;
    // Another delivery of the run may have read some of these entries meanwhile.
    const fresh = entries.slice(Math.max(0, fragments.length - from)).map(historyFragment);
    const all = fresh.length > 0 ? [...fragments, ...fresh] : fragments;
    const added = fresh.reduce((sum, { length }) => sum + length, 0);
    this.#keep(root, { fragments: all, bytes: bytes + added }, added);
    return historyBody(all.length > rank + 1 ? all.slice(0, rank + 1) : all);
  }

  #keep(root: MessageId, kept: Kept, added: number): void {
    this.#kept.delete(root);
    this.#kept.set(root, kept);
    this.#bytes += added;
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#kept.delete(oldest);
      this.#bytes -= bytes;
    }
  }

  /** Drops the history of a run that has ended. */
  forget(root: MessageId): void {
    this.#bytes -= this.#kept.get(root)?.bytes ?? 0;
    this.#kept.delete(root);
  }
}
