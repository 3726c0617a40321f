/** One keep-alive connection to an origin: an undici client, which dials when a call is given to it and none stands. */
import { type Socket } from "node:net";
import { type CheckedDestination } from "@posthaste/domain";
import { Client, type Dispatcher } from "undici";
import { type Dialer } from "./dial.ts";

export class Connection {
  /** It has carried a call before: it may have broken since, unnoticed. */
  isReused = false;
  /** The call that it carries. */
  call: { abort(): void } | undefined;
  readonly #client: Client;
  #socket: Socket | undefined;
  #dial: { cancel(): void } | undefined;

  constructor(
    destination: CheckedDestination,
    dialer: Dialer,
    disconnected: (connection: Connection) => void,
  ) {
    this.#client = new Client(destination.origin, {
      ...clientOptions,
      connect: (_options, dialled) => {
        this.#dial = dialer.dial(destination.url, (...result) => {
          this.#socket = result[1] ?? undefined;
          dialled(...result);
        });
      },
    });
    this.#client.on("disconnect", () => disconnected(this));
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** False: an answer came before all of the request was sent, and the rest would stand before the next one. */
  get isDrained(): boolean {
    return this.#socket?.writableLength === 0;
  }

  async close(): Promise<void> {
    this.#dial?.cancel();
    await this.#client.destroy();
  }
}

const clientOptions: Client.Options = {
  allowH2: false,
  pipelining: 1,
  // A call has one deadline, from connect to last byte, and it is not undici's.
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: 16 * 1024,
  // A busy connection comes to an end, too, so that its origin's addresses are asked for and vetted again.
  maxRequestsPerClient: 10_000,
  // Shorter than the idle time of common servers: a request on a connection that they just closed is lost.
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 30_000,
  useMilo: false,
};
