import { describe, expect, it } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { systemClock, waitMsMax } from "./clock.ts";

describe("the system's clock", () => {
  it("runs a task once after the time asked for, and not before", async () => {
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

  it("does not fire at once when asked for more than a timer can hold", async () => {
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
