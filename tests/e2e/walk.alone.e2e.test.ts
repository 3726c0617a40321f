import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "@jest/globals";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

it("the walk of a publish names the files that it crosses, in the order of their first call", async () => {
  const { stdout } = await run(process.execPath, ["scripts/walk.js", "publish"], {
    cwd: root,
    timeout: 50_000,
  });

  const lines = stdout.trimEnd().split("\n");
  const crossed = lines.slice(0, -1).map((line) => {
    const [calls = "", file = ""] = line.trim().split(/ {2,}/);
    return { calls: Number(calls), file };
  });
  const files = crossed.map(({ file }) => file);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  expect(new Set(files).size).toBe(files.length);
  const calls = crossed.reduce((sum, each) => sum + each.calls, 0);
  expect(lines.at(-1)).toBe(`${files.length} files, ${calls} calls`);
  const way = [
    "services/gateway/src/raw-door.ts",
    "services/gateway/src/works/publish.ts",
    "libs/engine/src/publish/intake.ts",
    "libs/engine/src/publish/accept.ts",
    "libs/domain/src/message/settle.ts",
  ];
  expect(files.filter((file) => way.includes(file))).toEqual(way);
}, 60_000);
