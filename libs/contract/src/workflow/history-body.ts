/**
 * The history of a run as its endpoint receives it: JSON as `JSON.stringify` writes it, since frameworks parse the
 * body and write it again before they check its signature. Made of fragments, one for each entry, so that a reader
 * may keep them.
 */
import { type HistoryEntry } from "@posthaste/domain";

export const historyFragment = ({ messageId, body }: HistoryEntry): Uint8Array =>
  Buffer.from(`{"messageId":"${messageId}","body":"${base64(body)}","callType":"step"}`, "latin1");

export function historyBody(fragments: readonly Uint8Array[]): Uint8Array {
  const size = fragments.reduce((sum, { length }) => sum + length + 1, 1);
  const bytes = new Uint8Array(Math.max(size, 2));
  bytes[0] = opening;
  let end = 1;
  for (const fragment of fragments) {
    bytes.set(fragment, end);
    end += fragment.length;
    bytes[end++] = comma;
  }
  bytes[bytes.length - 1] = closing;
  return bytes;
}

const [opening = 0, comma = 0, closing = 0] = new TextEncoder().encode("[,]");

/** Returns the history as JSON values, for a reader. */
export const historyJson = (entries: readonly HistoryEntry[]) =>
  entries.map(({ messageId, body }) => ({
    messageId,
    body: base64(body),
    callType: "step" as const,
  }));

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
