/** The destination. Records each arrival by the number in its body or path, and answers as configured. */
import { createServer, type Server, type Socket } from "node:net";
import { type Books } from "./books.ts";
import { HttpReader } from "./http-reader.ts";
import { idOffset, readNumber } from "./template.ts";

/** `answerAfterMs`: 0 answers at once, Infinity never. */
export type Manners = { readonly answerAfterMs: number };

const answer = Buffer.from(
  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok",
);
/** The path `/e/<number>` is an endpoint of a group, whose messages share one body. */
const endpointMark = Buffer.from("POST /e/");

export class Sink {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #books: Books;
  readonly #manners: Manners;
  #running = 0;
  runningMax = 0;

  private constructor(books: Books, manners: Manners) {
    this.#books = books;
    this.#manners = manners;
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  static async start(books: Books, manners: Manners = { answerAfterMs: 0 }): Promise<Sink> {
    const sink = new Sink(books, manners);
    await new Promise<void>((resolve, reject) => {
      sink.#server.once("error", reject);
      sink.#server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, resolve);
    });
    return sink;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string")
      throw new Error("the sink is not listening");
    return address.port;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Ends all connections, and with them the unanswered requests. */
  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.hangUp();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    const reader = new HttpReader((bytes, start, bodyStart) => {
      const isEndpoint = endpointMark.compare(bytes, start, start + endpointMark.length) === 0;
      const at = isEndpoint ? start + endpointMark.length : bodyStart + idOffset;
      this.#books.arrive(readNumber(bytes, at));
      this.#answer(socket);
    });
    socket.on("data", (chunk) => reader.push(chunk));
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.#sockets.delete(socket));
  }

  #answer(socket: Socket): void {
    const { answerAfterMs } = this.#manners;
    if (answerAfterMs === 0) {
      socket.write(answer);
      return;
    }
    this.runningMax = Math.max(this.runningMax, ++this.#running);
    if (!Number.isFinite(answerAfterMs)) return;
    setTimeout(() => {
      this.#running--;
      if (!socket.destroyed) socket.write(answer);
    }, answerAfterMs);
  }
}
