/**
 * Cuts a byte stream into HTTP/1.1 messages. Reads only the end of the head, Content-Length and chunks, since a load
 * generator must cost far less than the measured system.
 */

/**
 * Takes the message bytes[start, end) with its body bytes[bodyStart, end). A chunked body comes without the bytes between its
 * chunks. The bytes are valid only during the call.
 */
export type TakeMessage = (bytes: Buffer, start: number, bodyStart: number, end: number) => void;

const headEnd = Buffer.from("\r\n\r\n");
const crlf = Buffer.from("\r\n");
const headBytesMax = 64 * 1024;

export class HttpReader {
  readonly #take: TakeMessage;
  /** A copy of the beginning of an incomplete message. */
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
    const head = bytes.toString("latin1", start, bodyStart);
    if (/\r\ntransfer-encoding:/i.test(head)) return this.#chunkedAt(bytes, start, bodyStart);
    const end = bodyStart + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (end > bytes.length) return undefined;
    this.#take(bytes, start, bodyStart, end);
    return end;
  }

  #chunkedAt(bytes: Buffer, start: number, bodyStart: number): number | undefined {
    const parts = [bytes.subarray(start, bodyStart)];
    let at = bodyStart;
    for (;;) {
      const lineEnd = bytes.indexOf(crlf, at);
      if (lineEnd === -1) return undefined;
      const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
      const begin = lineEnd + crlf.length;
      at = begin + size + crlf.length;
      if (Number.isNaN(size)) throw new Error("a chunk without a size");
      if (at > bytes.length) return undefined;
      if (size === 0) break;
      parts.push(bytes.subarray(begin, begin + size));
    }
    const whole = Buffer.concat(parts);
    this.#take(whole, 0, bodyStart - start, whole.length);
    return at;
  }
}
