/** A TCP proxy that acts as a bad network for tests: slow, losing the answer to a request that was carried out, cutting, refusing. */
import { connect, createServer, type Socket } from "node:net";
import { freePort, loopback } from "./process/ports.ts";

export type Address = { readonly host: string; readonly port: number };

/** `request` goes from the client to the server. */
type Direction = "request" | "reply";

export type Proxy = Address & {
  /** Delays everything from now on by `ms`, in order. 0 ends the delay. */
  delay(direction: Direction, ms: number): void;
  /** Drops the server's replies from now on. Requests still arrive. */
  swallowReplies(on: boolean): void;
  /** Drops the connection instead of the reply to a matching request. Replaces the previous predicate. */
  loseReplies(isMeant: (request: Buffer) => boolean): void;
  /** Resets every open connection. New ones are accepted. */
  cut(): void;
  /** Resets new connections at once. */
  refuse(on: boolean): void;
  close(): Promise<void>;
};

/** For each connection: whether a matching request has passed, so that its reply is lost. */
type Seen = { isMeant: boolean };

/** Opens a proxy on `port`, by default a free one. */
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
    // Each socket has events of its own for its end; a reset carries no useful error.
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

/** Runs each action after its own delay and after all earlier ones. */
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
