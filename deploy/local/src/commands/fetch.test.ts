import { describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { repository } from "../folders.ts";

const folder = temporaryFolder();

/** Runs the gate of the server suites with no program on the PATH and an empty cache. */
async function runOnBareHost(env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ["scripts/test.js", "cluster"], {
    cwd: repository,
    env: { PATH: folder, POSTHASTE_CACHE: join(folder, "cache"), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const code = await new Promise((resolve) => child.once("close", resolve));
  return { code, output };
}

describe("a gate whose servers cannot be had on this host", () => {
  const skipped = /^SKIPPED cluster: .*this host has no java/m;

  it("is skipped by name, with the missing requirement of the host", async () => {
    const { code, output } = await runOnBareHost({});

    expect(output).toMatch(skipped);
    expect(output).toMatch(/^0 passed, 0 failed$/m);
    expect(code).toBe(0);
  });

  it("has failed where CI=true", async () => {
    const { code, output } = await runOnBareHost({ CI: "true" });

    expect(output).toMatch(skipped);
    expect(output).toMatch(/^0 passed, 1 failed$/m);
    expect(code).toBe(1);
  });
});
