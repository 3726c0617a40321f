/**
 * The connections of a listener. Owns which are open, from which address, and which have not sent a request yet.
 *
 * (1) At most `connectionsMax` are open, the reserve included. When all places are taken, a newcomer gets the place
 *     of the oldest silent connection, otherwise of the oldest idle one of the address with the most connections.
 * (2) Once half of the places are taken, newcomers of an address that has its share take the places of its own
 *     connections. An address is an IPv4 address or a /64 of IPv6, which is what one caller has.
 * (3) A connection with a request under way is not cut. A newcomer without a place is in the reserve, where only
 *     health is answered: probes need no place.
 * (4) A trusted proxy has no share, since many callers are behind it: the share is of their requests under way, by
 *     the address that the proxy has seen.
 */
import { type IncomingMessage, ServerResponse } from "node:http";
import { type Socket } from "node:net";
import { networkOf } from "@posthaste/domain";
import { type AddressSet, callerIp } from "../caller-ip.ts";

export type Connections = {
  arrived(socket: Socket): void;
  /** Notes a request. Returns false when its connection is in the reserve, or its caller has its share of requests under way. */
  hasAsked(req: IncomingMessage, res: ServerResponse<IncomingMessage>): boolean;
};

/** One address may have this fraction of all places once half are taken. */
const sharesMax = 4;
/** The reserve's part of all connections: 64 of 8,192. */
const reservePart = 1 / 128;

export function createConnections(
  connectionsMax: number,
  trustedProxies: AddressSet,
  onCrowded: () => void,
): Connections {
  const reserveMax = Math.ceil(connectionsMax * reservePart);
  const placesMax = connectionsMax - reserveMax;
  const perAddressMax = Math.ceil(placesMax / sharesMax);
  const addresses = new WeakMap<Socket, string>();
  // Sockets in the order of their arrival.
  const byAddress = new Map<string, Set<Socket>>();
  const silent = new Set<Socket>();
  const reserve = new Set<Socket>();
  // Requests under way of callers behind proxies; a caller without any has no entry.
  const byCaller = new Map<string, number>();
  const ofProxies = new WeakSet<Socket>();
  let open = 0;

  function arrived(socket: Socket): void {
    const peer = socket.remoteAddress ?? "";
    const isOfProxy = trustedProxies.size > 0 && trustedProxies.has(peer);
    if (isOfProxy) ofProxies.add(socket);
    const address = networkOf(peer);
    const own = byAddress.get(address);
    const hasItsShare = !isOfProxy && open >= placesMax / 2 && (own?.size ?? 0) >= perAddressMax;
    if (!hasItsShare && open < placesMax) return add(socket, address);
    onCrowded();
    const leaver = hasItsShare ? leaverOf(own) : (oldestOf(silent) ?? leaverOf(largest()));
    if (!leaver) return addToReserve(socket);
    leaver.destroy();
    // The leaver's own close event comes later, and would find the newcomer refused.
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

  /** Returns the oldest silent connection, otherwise the oldest without a request under way. */
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

  function isWithinShare(req: IncomingMessage, res: ServerResponse<IncomingMessage>): boolean {
    const caller = networkOf(callerIp(req, trustedProxies));
    const underWay = byCaller.get(caller) ?? 0;
    if (open >= placesMax / 2 && underWay >= perAddressMax) {
      onCrowded();
      return false;
    }
    byCaller.set(caller, underWay + 1);
    res.once("close", () => {
      const left = (byCaller.get(caller) ?? 0) - 1;
      if (left > 0) byCaller.set(caller, left);
      else byCaller.delete(caller);
    });
    return true;
  }

  return {
    arrived,
    hasAsked: (req, res) => {
      silent.delete(req.socket);
      if (reserve.has(req.socket)) return false;
      return !ofProxies.has(req.socket) || isWithinShare(req, res);
    },
  };
}

const oldestOf = (sockets: ReadonlySet<Socket>): Socket | undefined => {
  const [oldest] = sockets;
  return oldest;
};

/** Node keeps a pending answer on the socket. */
const isBusy = (socket: Socket): boolean =>
  "_httpMessage" in socket && socket._httpMessage instanceof ServerResponse;
