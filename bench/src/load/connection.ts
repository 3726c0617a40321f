/** One keep-alive connection of the load generator. Carries one request at a time and parses only status and length. */
import { connect, type Socket } from "node:net";
import { HttpReader } from "./http-reader.ts";

/** `status` is 0 when the connection broke before the answer. */
export type TakeAnswer = (status: number) => void;

const receiveBytes = 64 * 1024;
const statusOffset = "HTTP/1.1 ".length;

export class Connection {
  readonly #socket: Socket;
  #waiting: TakeAnswer | undefined;
  #isOpen = true;

  private constructor(port: number, opened: (error?: Error) => void) {
    const reader = new HttpReader((bytes, start) => this.#answer(statusOf(bytes, start)));
    this.#socket = connect({
      port,
      host: "127.0.0.1",
      noDelay: true,
      // One buffer for all answers, and no stream on the way in.
      onread: {
        buffer: Buffer.allocUnsafe(receiveBytes),
        callback: (length, buffer) => {
          reader.push(Buffer.from(buffer.buffer, buffer.byteOffset, length));
          return true;
        },
      },
    });
    this.#socket.once("connect", () => opened());
    this.#socket.once("error", opened);
    this.#socket.on("error", () => this.#broke());
    this.#socket.once("close", () => this.#broke());
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const connection: Connection = new Connection(port, (error) => {
        if (error === undefined) resolve(connection);
        else reject(new Error(`cannot connect to port ${port}`, { cause: error }));
      });
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** `bytes` must not change before the answer. */
  request(bytes: Buffer, take: TakeAnswer): void {
    if (this.#waiting !== undefined) throw new Error("a connection takes one request at a time");
    this.#waiting = take;
    this.#socket.write(bytes);
  }

  close(): void {
    this.#socket.destroy();
  }

  #answer(status: number): void {
    const take = this.#waiting;
    this.#waiting = undefined;
    take?.(status);
  }

  #broke(): void {
    this.#isOpen = false;
    this.#answer(0);
  }
}

function statusOf(bytes: Buffer, start: number): number {
  const digit = (index: number) => (bytes[start + statusOffset + index] ?? 0) - 0x30;
  return digit(0) * 100 + digit(1) * 10 + digit(2);
}
