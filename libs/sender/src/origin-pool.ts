/**
 * The connections to one origin, and the pools of all origins.
 *
 * 1. A call has a connection to itself; a pool never has more than `connectionsPerOriginMax` calls, and says so.
 * 2. Of the pools without a call at most `originsMax` keep connections: the least recently used goes first.
 * 3. At most `idleConnectionsMax` connections without a call are kept, of all: a destination may ask for each of its own to
 *    be kept for long, and files that may be open are for calls.
 */
import { type CheckedDestination } from "@posthaste/domain";
import { Connection } from "./connection.ts";
import { type Dialer } from "./dial.ts";

export type PoolBounds = {
  readonly connectionsPerOriginMax: number;
  readonly originsMax: number;
  readonly idleConnectionsMax: number;
};

/** Connections without a call, of all pools. */
type IdleConnections = { count: number; readonly max: number };

export class OriginPools {
  readonly #dialer: Dialer;
  readonly #bounds: PoolBounds;
  readonly #pools = new Map<string, OriginPool>();
  readonly #idleConnections: IdleConnections;
  #idle = 0;
  /** How often one has fallen idle. */
  #rests = 0;

  constructor(dialer: Dialer, bounds: PoolBounds) {
    this.#dialer = dialer;
    this.#bounds = bounds;
    this.#idleConnections = { count: 0, max: bounds.idleConnectionsMax };
  }

  /** Undefined: the origin has all the calls it may have. */
  take(destination: CheckedDestination): OriginPool | undefined {
    const { origin } = destination;
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      pool = new OriginPool(destination, this.#dialer, this.#idleConnections);
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

  /** A tenth at once, since all are looked at. */
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

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }
}

export class OriginPool {
  readonly origin: string;
  calls = 0;
  /** When it last fell idle, in rests of all. */
  restedAt = 0;
  readonly #destination: CheckedDestination;
  readonly #dialer: Dialer;
  readonly #ofAll: IdleConnections;
  readonly #all = new Set<Connection>();
  /** The last used is used first: the rest then reach their idle time and go. */
  readonly #idle: Connection[] = [];

  constructor(destination: CheckedDestination, dialer: Dialer, ofAll: IdleConnections) {
    this.origin = destination.origin;
    this.#ofAll = ofAll;
    this.#destination = destination;
    this.#dialer = dialer;
  }

  connection(): Connection {
    const connection = this.#idle.pop();
    if (connection === undefined) return this.freshConnection();
    this.#ofAll.count -= 1;
    connection.isReused = true;
    return connection;
  }

  freshConnection(): Connection {
    const connection = new Connection(this.#destination, this.#dialer, this.#disconnected);
    this.#all.add(connection);
    return connection;
  }

  keep(connection: Connection): void {
    const isWanted = this.#all.has(connection) && this.#ofAll.count < this.#ofAll.max;
    if (!isWanted || !connection.isDrained) return this.drop(connection);
    connection.rest();
    this.#idle.push(connection);
    this.#ofAll.count += 1;
  }

  drop(connection: Connection): void {
    this.#all.delete(connection);
    void connection.close();
  }

  async close(): Promise<void> {
    const connections = [...this.#all];
    this.#all.clear();
    this.#ofAll.count -= this.#idle.length;
    this.#idle.length = 0;
    for (const connection of connections) connection.call?.abort();
    await Promise.all(connections.map((connection) => connection.close()));
  }

  readonly #disconnected = (connection: Connection): void => {
    const index = this.#idle.indexOf(connection);
    // One with a call dials again by itself, or its call has failed and drops it.
    if (index < 0) return;
    this.#idle.splice(index, 1);
    this.#ofAll.count -= 1;
    this.drop(connection);
  };
}
