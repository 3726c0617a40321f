/** Starts and stops servers of tests, each at a free port of the loopback address. */
import { once } from "node:events";
import { type Server as HttpServer } from "node:http";
import { type AddressInfo, type Server } from "node:net";

/** Returns the port. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return portOf(server);
}

export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Hangs up on the callers. */
export async function close(server: HttpServer): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}
