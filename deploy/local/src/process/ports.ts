/** Ports for servers that are to come back on the same one after they were killed. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

export const loopback = "127.0.0.1";

/**
 * Below the range from which Linux takes the ports of outgoing connections (32768 on). A port of that range may be
 * taken by any connection while its server is down, even by a client that, calling the dead server, reaches itself.
 */
const first = 12_000;
const afterLast = 32_000;
const triesMax = 200;

/** A port that this process has given out and that is not taken yet is not given again: each is given once in a round. */
let next = randomInt(first, afterLast);

/** One that is free now, together with those at these distances. */
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

/** `port` if it is free, else another. */
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
