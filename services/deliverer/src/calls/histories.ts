/**
 * Keeps the histories of recently delivered runs in memory. Each delivery carries all entries of the one before, so
 * only the new ones are read. A history only grows, so a kept entry is never wrong.
 */
import { HistoryText } from "@posthaste/contract";
import { type HistoryEntry, type MessageId } from "@posthaste/domain";

export class Histories {
  readonly #bytesMax: number;
  /** Ordered by use; the most recently used is last. */
  readonly #kept = new Map<MessageId, HistoryText>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns how many of the run's first entries are kept. */
  known(root: MessageId): number {
    return this.#kept.get(root)?.length ?? 0;
  }

  /** Returns the history up to entry `rank`, with `entries` appended to the first `from`; undefined when those are no longer kept. */
  body(
    root: MessageId,
    from: number,
    rank: number,
    entries: readonly HistoryEntry[],
  ): Uint8Array | undefined {
    const kept = this.#kept.get(root) ?? new HistoryText();
    if (kept.length < from) return undefined;
    const before = kept.bytes;
    // Another delivery of the run may have read some of these entries meanwhile.
    kept.add(entries.slice(Math.max(0, kept.length - from)));
    this.#keep(root, kept, kept.bytes - before);
    return kept.upTo(rank + 1);
  }

  #keep(root: MessageId, kept: HistoryText, added: number): void {
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
