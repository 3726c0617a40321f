/**
 * Starts a server for tests, in the shape of the run: the standalone, or with `POSTHASTE_TEST_SHAPE=distributed` the six
 * services over the stores of `npm run stack -- stores`. Suites named `.alone.` test the standalone only, and those named
 * `.either.` what does not depend on the shape.
 */
import { joinOrStartAlone } from "./alone.ts";
import { type Settings, type TestServer } from "./test-server.ts";

export { type TestServer } from "./test-server.ts";

const isDistributed = process.env["POSTHASTE_TEST_SHAPE"] === "distributed";

export async function startServer(settings: Settings = {}): Promise<TestServer> {
  if (!isDistributed) return joinOrStartAlone(settings);
  // Loads the drivers only where they are used.
  const { startApart } = await import("./apart.ts");
  return startApart(settings);
}
