/** Ports for servers that come back on the same port after a kill. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

export const loopback = "127.0.0.1";

/**
 * Below the range from which Linux takes the ports of outgoing connections (32768 on). While its server is down, any
 * connection may take a port of that range, even that of a client which calls the dead server and reaches itself.
 */
const first = 12_000;
const afterLast = 32_000;
const triesMax = 200;

/** The next port to try. Each port is given out once a round, so one that is not in use yet is not given twice. */
let next = randomInt(first, afterLast);

/** Returns a free port whose neighbours at these distances are free, too. */
export async function freePort(...distances: readonly number[]): Promise<number> {
  const size = Math.max(0, ...distances) + 1;
  for (let tries = 0; tries < triesMax; tries++) {
    const port = next + size <= afterLast ? next : first;
    next = port + size;
    const found = await Promise.all([0, ...distances].map((distance) => isFree(port + distance)));
    if (found.every(Boolean)) return port;
  }
  throw new Error(`no free port was found on ${loopback} in ${triesMax} tries`);
}

export async function preferredPort(port: number): Promise<number> {
  return (await isFree(port)) ? port : freePort();
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: loopback, exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
