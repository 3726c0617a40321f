/**
 * A server for tests, in the shape that the run is about: the standalone, or (with `POSTHASTE_TEST_SHAPE=distributed`)
 * the six services over the stores of `npm run stack -- stores`. Suites called `.alone.` are about the
 * standalone only; those called `.either.` about what does not depend on the shape.
 */
import { startAlone } from "./alone.ts";
import { type Settings, type TestServer } from "./test-server.ts";

export { type TestServer } from "./test-server.ts";

const isDistributed = process.env["POSTHASTE_TEST_SHAPE"] === "distributed";

export async function startServer(settings: Settings = {}): Promise<TestServer> {
  if (!isDistributed) return startAlone(settings);
  // The drivers are loaded where they are used only.
  const { startApart } = await import("./apart.ts");
  return startApart(settings);
}
