/** Tests the services as a fault test uses them: several of one kind, killed, paused and restarted. */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ProcessState } from "./process/server-process.ts";
import { type RunningServices, startServices } from "./services.ts";
import { startStores, type Stores } from "./stores.ts";

jest.setTimeout(600_000);

let dir: string;
let stores: Stores;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "posthaste-services-"));
  stores = await startStores({ dir });
});

afterAll(async () => {
  await stores.stop();
  rmSync(dir, { recursive: true, force: true });
});

const isReady = async (url: string) => (await fetch(`${url}/readyz`)).status === 200;

describe("the services", () => {
  it("one of several is killed and comes back on its port while the others go on", async () => {
    const states: string[] = [];
    const onState = ({ name }: { name: string }, { kind }: ProcessState) =>
      states.push(`${name} ${kind}`);
    const services: RunningServices = await startServices({
      stores,
      room: "several",
      counts: { deliverer: 2 },
      onState,
    });
    try {
      const [first, second] = services.of("deliverer");
      if (first === undefined || second === undefined) throw new Error("there are two of them");
      expect(services.all).toHaveLength(7);
      expect(first.port).not.toBe(second.port);

      await first.process.kill();
      expect(await isReady(second.url)).toBe(true);
      await first.process.restart();

      expect(await isReady(first.url)).toBe(true);
      expect(states.filter((line) => line.startsWith("deliverer 1"))).toEqual([
        "deliverer 1 starting",
        "deliverer 1 ready",
        "deliverer 1 ended",
        "deliverer 1 starting",
        "deliverer 1 ready",
      ]);
    } finally {
      await services.stop();
    }
    expect(services.all.filter(({ process }) => process.isRunning)).toEqual([]);
  });

  it("when one cannot start none stays, and it says why", async () => {
    const states = new Map<string, string>();
    const starting = startServices({
      stores,
      room: "none",
      envOf: (service) => (service === "scheduler" ? { POSTHASTE_LOG_LEVEL: "loud" } : {}),
      onState: ({ name }, { kind }) => states.set(name, kind),
    });

    await expect(starting).rejects.toThrow(/scheduler 1 ended.*POSTHASTE_LOG_LEVEL/s);
    expect(new Set(states.values())).toEqual(new Set(["ended"]));
  });
});
