/**
 * The connections to one origin, and the pools of all origins.
 *
 * (1) A call has a connection to itself. A pool never has more than `connectionsPerOriginMax` calls; `take` then
 *     returns undefined.
 * (2) At most `originsMax` pools without a call keep connections: the least recently used goes first.
 * (3) At most `idleConnectionsMax` connections without a call are kept, over all pools: a destination may ask for
 *     each of its own to be kept for long, and open files are for calls.
 * (4) At `connectionsMax` connections over all pools, a new one replaces the connections that were longest without a
 *     call.
 */
import { type Socket } from "node:net";
import { type CheckedDestination } from "@posthaste/domain";
import { Client, type Dispatcher } from "undici";
import { type Dialer, type Dialing } from "./dial.ts";

export type PoolBounds = {
  readonly connectionsPerOriginMax: number;
  readonly originsMax: number;
  readonly idleConnectionsMax: number;
  readonly connectionsMax: number;
};

/** Counts over the connections of all pools. */
type OfAll = {
  count: number;
  /** Connections without a call. */
  idle: number;
  readonly idleMax: number;
  /** Called before a new connection is opened. */
  readonly makeRoom: () => void;
};

export class OriginPools {
  readonly #dialer: Dialer;
  readonly #bounds: PoolBounds;
  readonly #pools = new Map<string, OriginPool>();
  readonly #ofAll: OfAll;
  #idle = 0;
  /** Counts how often a pool has fallen idle. */
  #rests = 0;

  constructor(dialer: Dialer, bounds: PoolBounds) {
    this.#dialer = dialer;
    this.#bounds = bounds;
    this.#ofAll = {
      count: 0,
      idle: 0,
      idleMax: bounds.idleConnectionsMax,
      makeRoom: () => {
        if (this.#ofAll.count >= bounds.connectionsMax && this.#ofAll.idle > 0) this.#dropIdle();
      },
    };
  }

  get connections(): { readonly all: number; readonly idle: number } {
    return { all: this.#ofAll.count, idle: this.#ofAll.idle };
  }

  /** Returns undefined when the origin has all the calls that it may have. */
  take(destination: CheckedDestination): OriginPool | undefined {
    const { origin } = destination;
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      pool = new OriginPool(destination, this.#dialer, this.#ofAll);
      this.#pools.set(origin, pool);
      this.#idle++;
    }
    if (pool.calls >= this.#bounds.connectionsPerOriginMax) return undefined;
    if (pool.calls++ === 0) this.#idle--;
    return pool;
  }

  giveBack(pool: OriginPool): void {
    if (--pool.calls > 0) return;
    pool.restedAt = ++this.#rests;
    if (++this.#idle > this.#bounds.originsMax) this.#dropOldest();
  }

  /** Drops a tenth at once, since finding them looks at all pools. */
  #dropOldest(): void {
    const oldest = [...this.#pools.values()]
      .filter(({ calls }) => calls === 0)
      .sort((a, b) => a.restedAt - b.restedAt)
      .slice(0, Math.ceil(this.#bounds.originsMax / 10));
    for (const pool of oldest) {
      this.#pools.delete(pool.origin);
      void pool.close();
    }
    this.#idle -= oldest.length;
  }

  /** Drops a tenth at once as well. */
  #dropIdle(): void {
    const idle = [...this.#pools.values()]
      .flatMap((pool) => pool.idle.map((connection) => ({ pool, connection })))
      .sort((a, b) => a.connection.restedAt - b.connection.restedAt);
    for (const { pool, connection } of idle.slice(0, Math.ceil(idle.length / 10)))
      pool.dropIdle(connection);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }
}

export class OriginPool {
  readonly origin: string;
  calls = 0;
  /** When the pool last fell idle, as a count of all rests. */
  restedAt = 0;
  readonly #destination: CheckedDestination;
  readonly #dialer: Dialer;
  readonly #ofAll: OfAll;
  readonly #all = new Set<Connection>();
  /** The connection used last is used first: the rest then reach their idle time and close. */
  readonly #idle: Connection[] = [];

  constructor(destination: CheckedDestination, dialer: Dialer, ofAll: OfAll) {
    this.origin = destination.origin;
    this.#ofAll = ofAll;
    this.#destination = destination;
    this.#dialer = dialer;
  }

  connection(): Connection {
    const connection = this.#idle.pop();
    if (connection === undefined) return this.freshConnection();
    this.#ofAll.idle -= 1;
    connection.isReused = true;
    return connection;
  }

  freshConnection(): Connection {
    this.#ofAll.makeRoom();
    const connection = new Connection(this.#destination, this.#dialer, this.#disconnected);
    this.#all.add(connection);
    this.#ofAll.count += 1;
    return connection;
  }

  keep(connection: Connection): void {
    const isWanted = this.#all.has(connection) && this.#ofAll.idle < this.#ofAll.idleMax;
    if (!isWanted || !connection.isDrained) return this.drop(connection);
    connection.rest();
    this.#idle.push(connection);
    this.#ofAll.idle += 1;
  }

  drop(connection: Connection): void {
    if (this.#all.delete(connection)) this.#ofAll.count -= 1;
    void connection.close();
  }

  /** Returns connections without a call, the one with the longest rest first. */
  get idle(): readonly Connection[] {
    return this.#idle;
  }

  dropIdle(connection: Connection): void {
    const index = this.#idle.indexOf(connection);
    // A connection with a call dials again by itself, or its call has failed and drops the connection.
    if (index < 0) return;
    this.#idle.splice(index, 1);
    this.#ofAll.idle -= 1;
    this.drop(connection);
  }

  async close(): Promise<void> {
    const connections = [...this.#all];
    this.#ofAll.count -= connections.length;
    this.#ofAll.idle -= this.#idle.length;
    this.#all.clear();
    this.#idle.length = 0;
    for (const connection of connections) connection.call?.abort();
    await Promise.all(connections.map((connection) => connection.close()));
  }

  readonly #disconnected = (connection: Connection): void => this.dropIdle(connection);
}

/** A keep-alive connection to an origin: an undici client, which dials when it gets a call and is not connected. */
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
