/** The history of a run as its endpoint receives it. */
import { type HistoryEntry } from "@posthaste/domain";

/**
 * Text of a history that grows by entries: JSON as `JSON.stringify` writes it, since frameworks parse the body and write it again before
 * they check its signature. Owns the bytes of all entries in one piece: joining thousands of pieces for each delivery takes longer than
 * copying one.
 */
export class HistoryText {
  /** All entries, each behind an opening bracket or a comma, and free bytes for more. */
  #text = Buffer.alloc(0);
  /** Where each entry ends. */
  readonly #ends: number[] = [];

  /** The number of entries. */
  get length(): number {
    return this.#ends.length;
  }

  /** The bytes held. */
  get bytes(): number {
    return this.#text.length;
  }

  add(entries: readonly HistoryEntry[]): void {
    const fragments = entries.map(fragmentOf);
    let end = this.#ends.at(-1) ?? 0;
    this.#makeRoom(
      end,
      fragments.reduce((sum, { length }) => sum + length + 1, 0),
    );
    for (const fragment of fragments) {
      end += this.#text.write(end === 0 ? `[${fragment}` : `,${fragment}`, end, "latin1");
      this.#ends.push(end);
    }
  }

  #makeRoom(end: number, length: number): void {
    const room = this.#text;
    if (end + length <= room.length) return;
    this.#text = Buffer.allocUnsafe(Math.max(end + length, Math.floor(end * growth)));
    this.#text.set(room.subarray(0, end));
  }

  /** Returns the text of the first `count` entries. Bytes that were returned do not change. */
  upTo(count: number): Uint8Array {
    const end = this.#ends[Math.min(count, this.length) - 1];
    if (end === undefined) return Buffer.from("[]");
    const body = Buffer.allocUnsafe(end + 1);
    body.set(this.#text.subarray(0, end));
    body[end] = closing;
    return body;
  }
}

/** A history whose buffer is full gets a buffer of this many times its bytes. */
const growth = 1.5;

const closing = 0x5d;

/** Returns the history as JSON values, for a reader. */
export const historyJson = (entries: readonly HistoryEntry[]) =>
  entries.map(({ messageId, body }) => ({
    messageId,
    body: base64(body),
    callType: "step" as const,
  }));

const fragmentOf = ({ messageId, body }: HistoryEntry): string =>
  `{"messageId":"${messageId}","body":"${base64(body)}","callType":"step"}`;

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
