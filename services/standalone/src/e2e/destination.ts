/** A destination for tests: keeps what arrives, and answers as it is told. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";

export type Arrival = {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
};

/** Answers a request; `nth` counts the arrivals at this path, from 0. */
export type Responder = (arrival: Arrival, response: ServerResponse, nth: number) => void;

const waitMsMax = 15_000;
const ok: Responder = (_, response) => response.end("ok");

export class Destination {
  readonly #server: Server;
  readonly #arrivals: Arrival[] = [];
  readonly #responders = new Map<string, Responder>();
  readonly #waiters = new Set<() => void>();

  private constructor() {
    this.#server = createServer((request, response) => this.#receive(request, response));
  }

  static async start(): Promise<Destination> {
    const destination = new Destination();
    destination.#server.listen(0, "127.0.0.1");
    await once(destination.#server, "listening");
    return destination;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** How requests at `path` (without its query) are answered; otherwise 200 `ok`. */
  answers(path: string, responder: Responder): this {
    this.#responders.set(path, responder);
    return this;
  }

  at(path: string): readonly Arrival[] {
    return this.#arrivals.filter((arrival) => pathOf(arrival.path) === path);
  }

  /** The first `count` arrivals at `path`, as soon as they are there. */
  async arrivals(path: string, count = 1, msMax = waitMsMax): Promise<readonly Arrival[]> {
    const until = Date.now() + msMax;
    for (;;) {
      const found = this.at(path);
      if (found.length >= count) return found;
      const left = until - Date.now();
      if (left <= 0) throw new Error(`${found.length} of ${count} arrivals at ${path} after ${msMax} ms`);
      await this.#next(left);
    }
  }

  async arrival(path: string, msMax = waitMsMax): Promise<Arrival> {
    const [first] = await this.arrivals(path, 1, msMax);
    if (!first) throw new Error(`nothing at ${path}`);
    return first;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #next(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      const waiters = this.#waiters;
      waiters.add(done);
      function done(): void {
        clearTimeout(timer);
        waiters.delete(done);
        resolve();
      }
    });
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      const nth = this.at(pathOf(path)).length;
      const { headers, rawHeaders, method = "" } = request;
      const arrival = { at: Date.now(), method, path, headers, rawHeaders, body: Buffer.concat(chunks) };
      this.#arrivals.push(arrival);
      (this.#responders.get(pathOf(path)) ?? ok)(arrival, response, nth);
      for (const wake of this.#waiters) wake();
    });
  }
}

const pathOf = (target: string): string => target.split("?")[0] ?? "";
