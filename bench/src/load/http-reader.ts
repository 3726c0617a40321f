/**
 * Cuts a byte stream into HTTP/1.1 messages, for a load generator that must cost far less than what it measures: it
 * looks for the end of the head and for Content-Length, and at nothing else.
 */

/** The message is bytes[start, end), its body bytes[bodyStart, end). The bytes are only valid during the call. */
export type TakeMessage = (bytes: Buffer, start: number, bodyStart: number, end: number) => void;

const headEnd = Buffer.from("\r\n\r\n");
const headBytesMax = 64 * 1024;

export class HttpReader {
  readonly #take: TakeMessage;
  /** A copy of the beginning of a message whose end has not arrived. */
  #rest: Buffer | undefined;

  constructor(take: TakeMessage) {
    this.#take = take;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let start = 0;
    while (start < bytes.length) {
      const end = this.#messageAt(bytes, start);
      if (end === undefined) {
        this.#rest = Buffer.from(bytes.subarray(start));
        return;
      }
      start = end;
    }
  }

  #messageAt(bytes: Buffer, start: number): number | undefined {
    const found = bytes.indexOf(headEnd, start);
    if (found === -1) {
      if (bytes.length - start > headBytesMax) throw new Error("an HTTP head without an end");
      return undefined;
    }
    const bodyStart = found + headEnd.length;
    const end = bodyStart + contentLength(bytes.toString("latin1", start, bodyStart));
    if (end > bytes.length) return undefined;
    this.#take(bytes, start, bodyStart, end);
    return end;
  }
}

function contentLength(head: string): number {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return Number(length);
  if (/\r\ntransfer-encoding:/i.test(head)) {
    throw new Error("a chunked body: the load generator needs Content-Length");
  }
  return 0;
}
