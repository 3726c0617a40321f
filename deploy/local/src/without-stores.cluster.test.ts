/** Tests the services without stores: each names the missing stores, and ends on a signal. */
import { expect, it, jest } from "@jest/globals";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, loopback } from "./process/ports.ts";
import { type RunningService, startServices } from "./services.ts";

jest.setTimeout(120_000);

it("without their stores all six services name the missing ones, all stop when one has ended, and on SIGTERM they stop waiting and exit with 0", async () => {
  const nobody = async () => `${loopback}:${await freePort()}`;
  const services = new Map<string, RunningService>();
  const ends = new Map<string, string>();
  const starting = startServices({
    stores: {
      kafka: { brokers: [await nobody()] },
      redis: { url: `redis://${await nobody()}` },
      mongodb: { uri: `mongodb://${await nobody()}/` },
    },
    // Longer than the test, so that a wait for the drain fails it.
    env: { POSTHASTE_DRAIN_SECONDS: "600" },
    onState: (service, state) => {
      services.set(service.service, service);
      if (state.kind === "ended") ends.set(service.service, state.how);
    },
  });
  const failing = expect(starting).rejects.toThrow("gateway 1 ended before it was ready");

  const missing = new Map<string, string>();
  while (missing.size < 6) {
    for (const { service, url } of services.values()) {
      const answer = await fetch(`${url}/readyz`).catch(() => undefined);
      const text = answer?.status === 503 ? await answer.text() : "";
      if (text.includes("documents: starting")) missing.set(service, text);
    }
    await sleep(50);
  }
  await services.get("gateway")?.process.kill("SIGTERM");
  await failing;

  for (const text of missing.values()) expect(text).toMatch(/mongodb: /);
  expect([...ends.values()]).toEqual(Array.from({ length: 6 }, () => "exit code 0"));
});
