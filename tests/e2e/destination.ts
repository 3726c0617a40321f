/** A destination for tests: keeps what arrives, and answers as configured. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { freePort } from "@posthaste/local";
import { close, listen, portOf } from "./loopback.ts";

export type Arrival = {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
};

/** Answers a request. `nth` counts the arrivals at this path, from 0. */
export type Responder = (arrival: Arrival, response: ServerResponse, nth: number) => void;

const waitMsMax = 45_000;
const ok: Responder = (_, response) => response.end("ok");

export class Destination {
  readonly #server: Server;
  readonly #arrivals = new Map<string, Arrival[]>();
  readonly #responders = new Map<string, Responder>();
  readonly #waiters = new Set<() => void>();
  #total = 0;

  private constructor() {
    this.#server = createServer((request, response) => this.#receive(request, response));
  }

  static async start(): Promise<Destination> {
    const destination = new Destination();
    await listen(destination.#server);
    return destination;
  }

  get port(): number {
    return portOf(this.#server);
  }

  get total(): number {
    return this.#total;
  }

  get paths(): readonly string[] {
    return [...this.#arrivals.keys()];
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Sets the answer at `path`, without its query. Default: 200 `ok`. */
  answers(path: string, responder: Responder): this {
    this.#responders.set(path, responder);
    return this;
  }

  at(path: string): readonly Arrival[] {
    return this.#arrivals.get(path) ?? [];
  }

  async arrivals(path: string, count = 1, msMax = waitMsMax): Promise<readonly Arrival[]> {
    const found = (): number => this.at(path).length;
    await this.until(
      () => found() >= count,
      msMax,
      () => `${found()} of ${count} arrivals at ${path}`,
    );
    return this.at(path);
  }

  async arrival(path: string, msMax = waitMsMax): Promise<Arrival> {
    const [first] = await this.arrivals(path, 1, msMax);
    if (!first) throw new Error(`nothing at ${path}`);
    return first;
  }

  /** Resolves when `holds` returns true, which is checked at each arrival. */
  async until(holds: () => boolean, msMax = waitMsMax, what = () => "not yet"): Promise<void> {
    const end = Date.now() + msMax;
    while (!holds()) {
      const left = end - Date.now();
      if (left <= 0) throw new Error(`${what()} after ${msMax} ms`);
      await this.#next(left);
    }
  }

  stop(): Promise<void> {
    return close(this.#server);
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
      const { headers, rawHeaders, method = "" } = request;
      const body = Buffer.concat(chunks);
      this.#keep({ at: Date.now(), method, path, headers, rawHeaders, body }, response);
    });
  }

  #keep(arrival: Arrival, response: ServerResponse): void {
    const path = pathOf(arrival.path);
    const earlier = this.#arrivals.get(path) ?? [];
    const nth = earlier.push(arrival) - 1;
    this.#arrivals.set(path, earlier);
    this.#total += 1;
    (this.#responders.get(path) ?? ok)(arrival, response, nth);
    for (const wake of this.#waiters) wake();
  }
}

const pathOf = (target: string): string => target.split("?")[0] ?? "";

export const always =
  (status: number, body = ""): Responder =>
  (_, response) =>
    response.writeHead(status).end(body);

/** Answers `status` to the first `failures` arrivals, then 200. */
export const failing =
  (failures: number, status = 500): Responder =>
  (_, response, nth) =>
    response.writeHead(nth < failures ? status : 200).end();

export const silent: Responder = () => undefined;

export const deadUrl = async (path = "/"): Promise<string> =>
  `http://127.0.0.1:${await freePort()}${path}`;
