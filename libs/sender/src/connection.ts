/** One keep-alive connection to an origin: an undici client, which dials when a call is given to it and none stands. */
import { type Socket } from "node:net";
import { type CheckedDestination } from "@posthaste/domain";
import { Client, type Dispatcher } from "undici";
import { type Dialer, type Dialing } from "./dial.ts";

export class Connection {
  /** The connection that stands has carried a call before: the other end may have closed it since, unnoticed. */
  isReused = false;
  /** The call that it carries. */
  call: { abort(): void } | undefined;
  /** When its last call ended, in rests of all. */
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

  /** The network that it goes to, once that is known. */
  get network(): string | undefined {
    return this.#dial?.network;
  }

  /**
   * A destination that closes after its answer without a word is noticed one poll after the answer at the earliest,
   * and undici looks only until this turn's end. So a connection that was kept in this turn rests until the next:
   * without that, a call made as soon as another ends would often be lost with the connection.
   */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (this.#keptInTurn === turn) setImmediate(() => this.#client.dispatch(options, handler));
    else this.#client.dispatch(options, handler);
  }

  rest(): void {
    this.#keptInTurn = currentTurn();
    this.restedAt = ++rests;
  }

  /** False: an answer came before all of the request was sent, and the rest would stand before the next one. */
  get isDrained(): boolean {
    return this.#socket?.writableLength === 0;
  }

  /** An error has ended it, as a reset does. */
  get hasFailed(): boolean {
    return this.#socket !== undefined && this.#socket.errored !== null;
  }

  async close(): Promise<void> {
    this.#dial?.cancel();
    await this.#client.destroy();
  }
}

let rests = 0;

/** Turns of the event loop, counted only while connections are kept: one immediate for all of a turn. */
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
