/**
 * A TCP proxy between a client and a server, for tests of what a network does: it is slow, it loses the answer to what
 * was carried out, it cuts, it refuses.
 */
import { connect, createServer, type Socket } from "node:net";
import { freePort, loopback } from "./process/ports.ts";

export type Address = { readonly host: string; readonly port: number };

/** `request`: from the client to the server. */
type Direction = "request" | "reply";

export type Proxy = Address & {
  /** Holds back what passes from now on by so many milliseconds; 0 ends it. Order is kept. */
  delay(direction: Direction, ms: number): void;
  /** What the server says from now on is lost, while the client's words still arrive. */
  swallowReplies(on: boolean): void;
  /** The reply to a request that is meant, and its connection with it. Replaces what was said before. */
  loseReplies(isMeant: (request: Buffer) => boolean): void;
  /** Breaks every connection that there is; new ones are taken. */
  cut(): void;
  /** New connections are broken at once. */
  refuse(on: boolean): void;
  close(): Promise<void>;
};

/** Of one connection: whether the reply to what has passed is to be lost. */
type Seen = { isMeant: boolean };

/** Of `port`, a free one when absent. */
export async function openProxy(options: {
  readonly to: Address;
  readonly port?: number;
}): Promise<Proxy> {
  const delays: Record<Direction, number> = { request: 0, reply: 0 };
  const sockets = new Set<Socket>();
  let isSwallowing = false;
  let isMeant: (request: Buffer) => boolean = () => false;
  let isRefusing = false;

  const track = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay();
    // The other side hears of the end by its own; a reset has no error to tell.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const pass = (direction: Direction, from: Socket, to: Socket, seen: Seen): void => {
    const carry = inOrder(() => delays[direction]);
    from.on("data", (chunk: Buffer) => {
      if (direction === "request") seen.isMeant ||= isMeant(chunk);
      else if (isSwallowing) return;
      else if (seen.isMeant) return void to.destroy();
      carry(() => {
        if (to.writable) to.write(chunk);
      });
    });
    from.on("end", () => carry(() => to.end()));
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (isRefusing) {
      client.on("error", () => undefined);
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ ...options.to, allowHalfOpen: true });
    track(client, upstream);
    track(upstream, client);
    const seen: Seen = { isMeant: false };
    pass("request", client, upstream, seen);
    pass("reply", upstream, client, seen);
  });

  const port = options.port ?? (await freePort());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: loopback }, resolve);
  });
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    host: loopback,
    port,
    delay: (direction, ms) => void (delays[direction] = ms),
    swallowReplies: (on) => void (isSwallowing = on),
    loseReplies: (wanted) => void (isMeant = wanted),
    refuse: (on) => void (isRefusing = on),
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}

/** Each action after its own delay, and after those before it. */
function inOrder(delayMs: () => number): (action: () => void) => void {
  let last: Promise<void> | undefined;
  return (action) => {
    const ms = delayMs();
    if (ms === 0 && last === undefined) return action();
    const before = last;
    const wait = new Promise<void>((resolve) => setTimeout(resolve, ms));
    const mine = Promise.all([before, wait]).then(() => {
      if (last === mine) last = undefined;
      action();
    });
    last = mine;
  };
}
