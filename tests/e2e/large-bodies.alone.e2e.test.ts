/** Tests memory under large messages: waiting messages wait in the store. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type AloneServer, startAlone } from "./alone.ts";
import { close, listen, portOf } from "./loopback.ts";

const mebibyte = 1024 * 1024;
const body = new Uint8Array(8 * mebibyte);
const count = 40;
/** Keeps no bodies, and answers no call until told to. */
const residentBytesMax = 260 * mebibyte;

/** Keeps no bodies, and answers no call until told to. */
class Holding {
  readonly ids = new Set<string>();
  readonly #held: ServerResponse[] = [];
  #answers = false;
  readonly #server = createServer((request, response) => {
    this.ids.add(String(request.headers["service-message-id"]));
    request.resume().on("end", () => {
      if (this.#answers) response.end();
      else this.#held.push(response);
    });
  });

  start(): Promise<number> {
    return listen(this.#server);
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}/`;
  }

  answer(): void {
    this.#answers = true;
    for (const response of this.#held) response.end();
  }

  async until(holds: (ids: ReadonlySet<string>) => boolean): Promise<void> {
    const signal = AbortSignal.timeout(60_000);
    while (!holds(this.ids)) await once(this.#server, "request", { signal });
  }

  stop(): Promise<void> {
    return close(this.#server);
  }
}

let server: AloneServer;
let destination: Holding;

beforeEach(async () => {
  destination = new Holding();
  await destination.start();
  server = await startAlone({ env: { POSTHASTE_MAX_IN_FLIGHT_MIB: "32" } });
});
afterEach(async () => {
  await destination.stop();
  await server.stop();
});

describe("320 MiB of due messages", () => {
  it("to one destination are never in memory together, when they are published, after a restart, or when the destination answers again", async () => {
    const { client, process: running } = server;
    const idle = running.residentBytesMax;
    const grown = (): number => running.residentBytesMax - idle;

    for (let n = 0; n < count; n++) await client.published(destination.url, {}, body);
    const whenTheyCame = grown();
    await running.kill();
    const before = destination.ids.size;
    await running.start();
    await destination.until((ids) => ids.size >= before);
    const afterTheRestart = grown();
    destination.answer();
    await destination.until((ids) => ids.size === count);

    const all = [whenTheyCame, afterTheRestart, grown()].map((bytes) => bytes / mebibyte);
    expect(Math.max(...all)).toBeLessThan(residentBytesMax / mebibyte);
  });
});
