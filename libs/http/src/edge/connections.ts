/**
 * The connections of a listener. Owns which are open, from which address, and which of them have not asked for anything yet.
 *
 * (1) no more are open than `connectionsMax`, the reserve included. When all places are taken a newcomer gets that of the
 *    oldest that has sent nothing, else of the oldest idle one of the address that has most.
 * (2) from half of them on, an address that has its share gets no more: its newcomers take the places of its own.
 * (3) a connection with a request under way is not cut. A newcomer for which there is no place stands in the reserve, where
 *    health is answered and nothing else: probes need no place.
 */
import { ServerResponse } from "node:http";
import { type Socket } from "node:net";

export type Connections = {
  arrived(socket: Socket): void;
  /** A request has come on it. False: it stands in the reserve. */
  hasAsked(socket: Socket): boolean;
};

/** Of all connections, the part that one address may have when half are taken. */
const sharesMax = 4;
/** Of all connections, the part that is the reserve: 64 of 8,192. */
const reservePart = 1 / 128;

export function createConnections(connectionsMax: number, onCrowded: () => void): Connections {
  const reserveMax = Math.ceil(connectionsMax * reservePart);
  const placesMax = connectionsMax - reserveMax;
  const perAddressMax = Math.ceil(placesMax / sharesMax);
  const addresses = new WeakMap<Socket, string>();
  // Each in the order in which they came.
  const byAddress = new Map<string, Set<Socket>>();
  const silent = new Set<Socket>();
  const reserve = new Set<Socket>();
  let open = 0;

  function arrived(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    const own = byAddress.get(address);
    const hasItsShare = open >= placesMax / 2 && (own?.size ?? 0) >= perAddressMax;
    if (!hasItsShare && open < placesMax) return add(socket, address);
    onCrowded();
    const leaver = hasItsShare ? leaverOf(own) : (oldestOf(silent) ?? leaverOf(largest()));
    if (!leaver) return addToReserve(socket);
    leaver.destroy();
    // Its own close comes later, and would find the newcomer refused.
    remove(leaver);
    add(socket, address);
  }

  function add(socket: Socket, address: string): void {
    open++;
    addresses.set(socket, address);
    silent.add(socket);
    const own = byAddress.get(address);
    if (own) own.add(socket);
    else byAddress.set(address, new Set([socket]));
    socket.once("close", () => remove(socket));
  }

  function remove(socket: Socket): void {
    const address = addresses.get(socket) ?? "";
    const own = byAddress.get(address);
    if (!own?.delete(socket)) return;
    if (own.size === 0) byAddress.delete(address);
    silent.delete(socket);
    open--;
  }

  function addToReserve(socket: Socket): void {
    if (reserve.size >= reserveMax) oldestOf(reserve)?.destroy();
    reserve.add(socket);
    socket.once("close", () => reserve.delete(socket));
  }

  /** The oldest that has sent nothing, else the oldest without a request under way. */
  function leaverOf(own: ReadonlySet<Socket> | undefined): Socket | undefined {
    let idle: Socket | undefined;
    for (const socket of own ?? []) {
      if (silent.has(socket)) return socket;
      if (!idle && !isBusy(socket)) idle = socket;
    }
    return idle;
  }

  function largest(): ReadonlySet<Socket> | undefined {
    let most: ReadonlySet<Socket> | undefined;
    for (const own of byAddress.values()) if (own.size > (most?.size ?? 0)) most = own;
    return most;
  }

  return {
    arrived,
    hasAsked: (socket) => {
      silent.delete(socket);
      return !reserve.has(socket);
    },
  };
}

const oldestOf = (sockets: ReadonlySet<Socket>): Socket | undefined => {
  const [oldest] = sockets;
  return oldest;
};

/** Node keeps the answer that is to come on the socket. */
const isBusy = (socket: Socket): boolean =>
  "_httpMessage" in socket && socket._httpMessage instanceof ServerResponse;
