/** What a process loads that reports nothing: OpenTelemetry is half a thousand modules. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "@jest/globals";

const index = new URL("../index.ts", import.meta.url).href;
const script = `
  import { registerHooks } from "node:module";
  registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });
  await import(${JSON.stringify(index)});
`;

it("OpenTelemetry is not loaded before somebody asks for traces", async () => {
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const loaded = stdout.split("\n");

  expect(loaded).toContain(index);
  expect(loaded.filter((url) => /opentelemetry|otel/.test(url))).toEqual([]);
});
