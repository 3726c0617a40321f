/**
 * The history of a run as its endpoint gets it: JSON as `JSON.stringify` writes it, since frameworks parse the body and write
 * it again before they check its signature.
 */
import { type HistoryEntry, type MessageId } from "@posthaste/domain";

export function historyBody(entries: readonly HistoryEntry[]): Uint8Array {
  const size = entries.reduce((sum, entry) => sum + sizeOf(entry), 1 + Math.max(1, entries.length));
  const bytes = Buffer.allocUnsafeSlow(size);
  let end = bytes.write("[");
  for (const [i, { messageId, body }] of entries.entries()) {
    if (i > 0) end += bytes.write(",", end);
    end += bytes.write(`${opening}${messageId}${between}`, end);
    end += bytes.write(
      Buffer.from(body.buffer, body.byteOffset, body.length).toString("base64"),
      end,
    );
    end += bytes.write(closing, end);
  }
  bytes.write("]", end);
  return new Uint8Array(bytes.buffer);
}

const opening = '{"messageId":"';
const between = '","body":"';
const closing = '","callType":"step"}';
const aroundLength = opening.length + between.length + closing.length;

const sizeOf = ({ messageId, body }: { messageId: MessageId; body: Uint8Array }): number =>
  aroundLength + messageId.length + Math.ceil(body.length / 3) * 4;

/** The same, for a reader. */
export const historyJson = (entries: readonly HistoryEntry[]) =>
  entries.map(({ messageId, body }) => ({
    messageId,
    body: Buffer.from(body.buffer, body.byteOffset, body.length).toString("base64"),
    callType: "step" as const,
  }));
