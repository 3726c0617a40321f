import { expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { promisify } from "node:util";
import { bareEnv } from "./bare-env.ts";

it("a program uses the compile cache of this process", async () => {
  const args = ["--print", "require('node:module').getCompileCacheDir()"];

  const { stdout } = await promisify(execFile)(process.execPath, args, { env: bareEnv });

  expect(stdout.trim()).toBe(String(getCompileCacheDir()));
});
