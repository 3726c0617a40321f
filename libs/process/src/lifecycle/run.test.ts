import { describe, expect, it } from "@jest/globals";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";

const from = (name: string): string => JSON.stringify(import.meta.resolve(name));

/** Runs a process of its own, since signals and exit codes belong to processes. `services` is an array expression. */
function run(services: string, drainMs = 1_000, format = "human", out?: number): ChildProcess {
  const code = `
    import { runServices } from ${from("./run.ts")};
    import { systemClock } from ${from("../clock.ts")};
    import { createLog } from ${from("../log/log.ts")};
    const clock = systemClock();
    const log = createLog({ service: "test", level: "info", format: "${format}", clock });
    const say = (text) => async () => console.log(text);
    const alive = setInterval(() => {}, 1_000);
    const quiet = (name) => ({ name, start: say("start " + name), stop: say("stop " + name) });
    await runServices(${services}, { log, clock, drainMs: ${drainMs} });
    console.log("ready");`;
  return spawn(process.execPath, ["--input-type=module", "--eval", code], {
    stdio: ["ignore", out ?? "pipe", "inherit", "ipc"],
  });
}

/** Sends each signal when its line is seen, and reads to the end. */
async function endOf(
  child: ChildProcess,
  signals: readonly (readonly [NodeJS.Signals, string])[],
): Promise<{ status: unknown; lines: string[] }> {
  let output = "";
  const waiting = [...signals];
  child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    while (waiting[0] && output.includes(waiting[0][1])) child.kill(waiting.shift()?.[0]);
  });
  const status = await new Promise((resolve) => child.on("close", resolve));
  return { status, lines: output.trim().split("\n") };
}

const said = (lines: readonly string[]): string[] =>
  lines.filter((line) => /^(start|stop|ready)/.test(line));

describe("a process", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "starts its services in order, stops them in reverse on %s and exits 0",
    async (signal) => {
      const { status, lines } = await endOf(run(`[quiet("a"), quiet("b")]`), [[signal, "ready"]]);

      expect(said(lines)).toEqual(["start a", "start b", "ready", "stop b", "stop a"]);
      expect(status).toBe(0);
    },
  );

  it.each(["human", "json"])(
    "goes on where its output cannot be written, as on a full disk (%s)",
    async (format) => {
      const full = openSync("/dev/full", "w");
      const writes = `{ name: "writes", start: async () => {
        for (let n = 0; n < 20; n++) {
          log.info("service.started", { service: "a".repeat(n) });
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        process.send("went on");
      }, stop: async () => {} }`;
      const child = run(`[${writes}]`, 1_000, format, full);
      closeSync(full);
      const ended = once(child, "close");

      const heard = await Promise.race([once(child, "message"), ended]);
      child.kill("SIGTERM");

      expect(heard[0]).toBe("went on");
      expect(await ended).toEqual([0, null]);
    },
  );

  it("exits 1 at once on a second signal, with a line", async () => {
    const { status, lines } = await endOf(
      run(
        `[{ ...quiet("a"), stop: () => (console.log("hanging"), new Promise(() => {})) }]`,
        600_000,
      ),
      [
        ["SIGTERM", "ready"],
        ["SIGINT", "hanging"],
      ],
    );

    expect(lines.at(-1)).toContain("process.killed");
    expect(status).toBe(1);
  });

  it("exits 1 when a service fails to stop, after stopping the others", async () => {
    const { status, lines } = await endOf(
      run(`[quiet("a"), { ...quiet("b"), stop: async () => { throw new Error("stuck") } }]`),
      [["SIGTERM", "ready"]],
    );

    expect(said(lines)).toContain("stop a");
    expect(lines.join()).toContain("stuck");
    expect(status).toBe(1);
  });

  it("exits 1 when a service cannot start, naming it and stopping the services before it", async () => {
    const { status, lines } = await endOf(
      run(`[quiet("a"), { ...quiet("b"), start: async () => { throw new Error("port taken") } }]`),
      [],
    );

    expect(said(lines)).toEqual(["start a", "stop a"]);
    expect(lines.at(-1)).toMatch(/process\.start\.failed.*cannot start b.*port taken/);
    expect(status).toBe(1);
  });

  it.each([
    ["a rejection that nobody handles", `void Promise.reject(new Error("broken"))`],
    ["an error that nobody catches", `setImmediate(() => { throw new Error("broken") })`],
  ])("logs one line and exits 1 on %s", async (_, statement) => {
    const { status, lines } = await endOf(
      run(`[{ ...quiet("a"), start: async () => { ${statement} } }]`),
      [],
    );

    expect(lines.filter((line) => line.includes("broken"))).toHaveLength(1);
    expect(status).toBe(1);
  });

  it("waits for a start in progress when the signal comes early, then stops what has started", async () => {
    const slow = `{ ...quiet("b"), start: () => (console.log("half"), new Promise((r) => setTimeout(r, 50))) }`;

    const { status, lines } = await endOf(run(`[quiet("a"), ${slow}]`), [["SIGTERM", "half"]]);

    expect(said(lines)).toEqual(["start a", "stop b", "stop a"]);
    expect(status).toBe(0);
  });

  it("waits for no start that waits for others: it gives up, begins no further one and exits 0", async () => {
    const waiting = `(() => {
      const { promise, reject } = Promise.withResolvers();
      const start = () => (console.log("waiting"), promise);
      return { ...quiet("b"), start, giveUp: () => reject(new Error("given up")) };
    })()`;

    const { status, lines } = await endOf(run(`[quiet("a"), ${waiting}, quiet("c")]`, 600_000), [
      ["SIGTERM", "waiting"],
    ]);

    expect(said(lines)).toEqual(["start a", "stop a"]);
    expect(lines.join()).not.toContain("failed");
    expect(status).toBe(0);
  });
});
