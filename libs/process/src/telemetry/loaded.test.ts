/** A process that reports nothing does not load OpenTelemetry, which is half a thousand modules. */
import { expect, it } from "@jest/globals";
import { modulesLoadedBy } from "@posthaste/testing";

const index = new URL("../index.ts", import.meta.url).href;

it("OpenTelemetry is not loaded unless traces are configured", async () => {
  const loaded = await modulesLoadedBy(`await import(${JSON.stringify(index)});`);

  expect(loaded).toContain(index);
  expect(loaded.filter((url) => /opentelemetry|otel/.test(url))).toEqual([]);
});
