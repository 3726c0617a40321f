import { describe, expect, it } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { steadyClock, systemClock, waitMsMax } from "./clock.ts";
import { processParts } from "./lifecycle/process-parts.ts";

describe("the system's clock", () => {
  it("runs a task once after the given time, and not before", async () => {
    const clock = systemClock();
    const from = performance.now();

    await new Promise<void>((resolve) => clock.after(30, resolve));

    expect(performance.now() - from).toBeGreaterThanOrEqual(29);
  });

  it("does not run a task that was called off", async () => {
    const clock = systemClock();
    const ran: string[] = [];

    const callOff = clock.after(5, () => ran.push("called off"));
    callOff();
    await new Promise<void>((resolve) => clock.after(20, resolve));

    expect(ran).toEqual([]);
  });

  it("does not fire at once for a time longer than a timer can hold", async () => {
    const clock = systemClock();
    const ran: string[] = [];

    const callOff = clock.after(30 * 24 * waitMsMax, () => ran.push("too early"));
    await new Promise<void>((resolve) => clock.after(20, resolve));
    callOff();

    expect(ran).toEqual([]);
  });

  it("lets the process end while an unref'd timer is armed", () => {
    const code = `import { systemClock } from ${JSON.stringify(import.meta.resolve("./clock.ts"))};
      systemClock({ unref: true }).after(60_000, () => {});`;

    const run = spawnSync(process.execPath, ["--input-type=module", "--eval", code], {
      timeout: 20_000,
    });

    expect(run.status).toBe(0);
  });
});

describe("a steady clock", () => {
  it("continues from its start, however the host's clock is set", () => {
    let [host, passed] = [1_000_000, 500];
    const clock = steadyClock({ ...systemClock(), now: () => host }, () => passed);
    expect(clock.now()).toBe(1_000_000);

    passed += 250;
    host += 3_600_000;
    expect(clock.now()).toBe(1_000_250);
    host -= 7_200_000;

    expect(clock.now()).toBe(1_000_250);
  });

  it("is the clock of a process of the distributed shape", () => {
    const { now } = Date;
    let aheadMs = 0;
    Date.now = () => now() + aheadMs;
    const { clock } = processParts("scheduler", {
      drainSeconds: 1,
      host: "127.0.0.1",
      logLevel: "error",
      metricsPort: undefined,
      otelMetricExportInterval: 60_000,
      otlpEndpoint: undefined,
      port: 0,
      profile: "production",
      traceRatio: 0,
    });
    const before = clock.now();

    aheadMs = 3_600_000;
    const after = clock.now();
    Date.now = now;

    expect(after - before).toBeLessThan(600_000);
  });
});
