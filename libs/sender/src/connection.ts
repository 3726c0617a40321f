/** One keep-alive connection to an origin: an undici client, which dials when it gets a call and is not connected. */
import { type Socket } from "node:net";
import { type CheckedDestination } from "@posthaste/domain";
import { Client, type Dispatcher } from "undici";
import { type Dialer, type Dialing } from "./dial.ts";

export class Connection {
  /** The connection has carried a call before: the other end may have closed it since, unnoticed. */
  isReused = false;
  call: { abort(): void } | undefined;
  /** When the last call ended, as a count of all rests. */
  restedAt = 0;
  readonly #client: Client;
  #socket: Socket | undefined;
  #keptInTurn = -1;
  #dial: Dialing | undefined;

  constructor(
    destination: CheckedDestination,
    dialer: Dialer,
    disconnected: (connection: Connection) => void,
  ) {
    this.#client = new Client(destination.origin, {
      ...clientOptions,
      connect: (_options, dialled) => {
        this.isReused = false;
        this.#dial = dialer.dial(destination.url, (...result) => {
          this.#socket = result[1] ?? undefined;
          dialled(...result);
        });
      },
    });
    this.#client.on("disconnect", () => disconnected(this));
  }

  /** The network that the connection goes to, once known. */
  get network(): string | undefined {
    return this.#dial?.network;
  }

  /**
   * Sends a request. A silent close by the destination is noticed one poll after its answer at the earliest, and
   * undici looks only until the end of this turn. So a connection that was kept in this turn rests until the next:
   * otherwise a call made as soon as another ends would often be lost with the connection.
   */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (this.#keptInTurn === turn) setImmediate(() => this.#client.dispatch(options, handler));
    else this.#client.dispatch(options, handler);
  }

  rest(): void {
    this.#keptInTurn = currentTurn();
    this.restedAt = ++rests;
  }

  /** False when an answer came before all of the request was sent: the rest would precede the next request. */
  get isDrained(): boolean {
    return this.#socket?.writableLength === 0;
  }

  /** True when an error has ended the connection, such as a reset. */
  get hasFailed(): boolean {
    return this.#socket !== undefined && this.#socket.errored !== null;
  }

  async close(): Promise<void> {
    this.#dial?.cancel();
    await this.#client.destroy();
  }
}

let rests = 0;

/** Turns of the event loop, counted only while connections are kept, by one immediate per turn. */
let turn = 0;
let isTurnEnding = false;

function currentTurn(): number {
  if (!isTurnEnding) {
    isTurnEnding = true;
    setImmediate(() => {
      isTurnEnding = false;
      turn++;
    });
  }
  return turn;
}

const clientOptions: Client.Options = {
  allowH2: false,
  pipelining: 1,
  // A call has one deadline, from connect to last byte, which undici does not keep.
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: 16 * 1024,
  // A busy connection is closed after this many requests, so that the addresses of its origin are resolved and vetted again.
  maxRequestsPerClient: 10_000,
  // Shorter than the idle time of common servers: a request on a connection that they have just closed is lost.
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 30_000,
  useMilo: false,
};
