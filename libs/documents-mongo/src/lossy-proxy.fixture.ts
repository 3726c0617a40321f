/** A way to a server on which replies get lost: the server has done what it was asked, and nobody hears of it. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type LossyProxy = {
  readonly port: number;
  /** The next `times` replies to commands of this name on this collection take their connections with them. */
  readonly loseReplies: (command: string, collection: string, times: number) => void;
  /** How many replies are still to be lost. */
  readonly toBeLost: () => number;
  readonly close: () => Promise<void>;
};

export async function openLossyProxy(to: {
  readonly host: string;
  readonly port: number;
}): Promise<LossyProxy> {
  let losing: { readonly begin: Buffer; times: number }[] = [];
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    const upstream = connect(to);
    let loses = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (request) => {
      const told = losing.find(({ begin, times }) => times > 0 && request.includes(begin));
      if (told) [told.times, loses] = [told.times - 1, true];
      upstream.write(request);
    });
    upstream.on("data", (reply) => {
      if (loses) client.destroy();
      else client.write(reply);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a port was asked for");
  return {
    port: address.port,
    loseReplies: (command, collection, times) => {
      losing = [...losing, { begin: beginOf(command, collection), times }];
    },
    toBeLost: () => losing.reduce((sum, { times }) => sum + times, 0),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** The command's name is the first field of the request's document: a string, the collection. */
function beginOf(command: string, collection: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32LE(collection.length + 1);
  const [field, value] = [`\u0002${command}\0`, `${collection}\0`];
  return Buffer.concat([Buffer.from(field), length, Buffer.from(value)]);
}
