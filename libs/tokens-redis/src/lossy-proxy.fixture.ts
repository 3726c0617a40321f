/** A way to a server on which answers can get lost: the server has done what it was asked, and nobody hears of it. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type LossyProxy = {
  readonly port: number;
  /** From now on each answer takes its connection with it. */
  loseAnswers(): void;
  passAnswers(): void;
  close(): Promise<void>;
};

export async function openLossyProxy(to: { host: string; port: number }): Promise<LossyProxy> {
  let loses = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(to);
    const pair = [client, upstream];
    for (const socket of pair) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        for (const each of pair) each.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (answer) => {
      if (loses) client.destroy();
      else client.write(answer);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a port was asked for");
  return {
    port: address.port,
    loseAnswers: () => {
      loses = true;
    },
    passAnswers: () => {
      loses = false;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
