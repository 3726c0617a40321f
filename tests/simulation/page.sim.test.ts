/** Runs the simulation's commands as they are in docs/ARCHITECTURE.md. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";
import { blocksOf } from "@posthaste/testing/pages";

const root = fileURLToPath(new URL("../..", import.meta.url));
const lines = blocksOf("sh simulation").flatMap(({ code }) => code.trim().split("\n"));

it.each(lines)("%s", (line) => {
  const { status, stdout } = spawnSync("sh", ["-c", line], { cwd: root, encoding: "utf8" });

  // A planted bug is found, and nothing else.
  expect(status).toBe(line.includes("--bug") ? 1 : 0);
  expect(stdout).toMatch(/\d+ of \d+ seeds violate a check\n$/);
});
