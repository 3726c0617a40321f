import { createServer } from "node:net";
import { expect, it } from "@jest/globals";
import { freePort, loopback } from "./ports.ts";

it("a port is given once, also before it is taken", async () => {
  const given = await Promise.all(Array.from({ length: 500 }, () => freePort()));

  expect(new Set(given).size).toBe(500);
});

it("a port at the given distance belongs to it", async () => {
  const first = await freePort(2);
  const second = await freePort();

  expect([first, first + 1, first + 2]).not.toContain(second);
});

it("a port that is taken is not given, nor one beside which the other is taken", async () => {
  const before = await freePort();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(before + 2, loopback, resolve));

  const pair = await freePort(1);
  const given = [pair, await freePort(), await freePort()];
  await new Promise((resolve) => server.close(resolve));

  expect(given).not.toContain(before + 2);
  expect(pair).not.toBe(before + 1);
});
