/** The yardstick: node:http and undici, storing nothing. No durable service on the same host can be much cheaper. */
import { join } from "node:path";
import { freePort } from "@posthaste/local";
import { Child, keepCode } from "./child.ts";
import { answersOk, type System } from "./system.ts";

const startMsMax = 10_000;

export async function startRelay(): Promise<System> {
  const port = await freePort();
  const child = new Child({
    name: "bare relay",
    file: process.execPath,
    args: [keepCode, join(import.meta.dirname, "../peers/relay.ts"), String(port)],
  });
  await child.ready(() => answersOk(`http://127.0.0.1:${port}/readyz`), startMsMax);
  return {
    name: "bare relay",
    port,
    pids: [child.pid],
    stop: () => child.stop(),
    output: () => child.output,
  };
}
