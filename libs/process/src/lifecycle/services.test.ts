import { describe, expect, it } from "@jest/globals";

import { recordingLog } from "@posthaste/testing";
import { createReadiness } from "./readiness.ts";
import { startServices } from "./services.ts";

const log = recordingLog();

describe("readiness", () => {
  it("names every service that has not started yet", async () => {
    const readiness = createReadiness();
    const seen: (readonly string[])[] = [];
    const service = (name: string) => ({
      name,
      start: async () => void seen.push(readiness.missing()),
      stop: async () => undefined,
    });

    await startServices([service("store"), service("gateway")], { log, readiness });

    expect(seen).toEqual([["store: starting", "gateway: starting"], ["gateway: starting"]]);
    expect(readiness.missing()).toEqual([]);
  });
});

describe("stopping", () => {
  it("stops each service once, however often stop is called", async () => {
    let stops = 0;
    const service = { name: "a", start: async () => undefined, stop: async () => void stops++ };
    const running = await startServices([service], { log });

    await Promise.all([running.stop(), running.stop()]);

    expect(stops).toBe(1);
  });
});
