/** Runs the standalone as a process: one server with everything in it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@posthaste/local";
import { Client } from "./client.ts";
import { type Seed, seedStandalone } from "./seed.ts";
import { ServerProcess } from "./server-process.ts";
import { mayShare } from "./shared-env.ts";
import { sharedStandalone } from "./shared-standalones.ts";
import { type Settings, type TestServer } from "./test-server.ts";
import { areOwnUsers, users } from "./users.ts";

export type AloneServer = TestServer & {
  readonly process: ServerProcess;
  readonly dataDir: string;
};

/** The distance of the management port: docs/design/security#ports. */
const managementDistance = 2;

/** Returns the standalone that this worker's suites share, or one of the suite's own. */
export async function joinOrStartAlone(settings: Settings): Promise<TestServer> {
  const shared = sharedStandalone();
  if (!shared || !mayShare(settings)) return startAlone(settings);
  const { port, managementPort, outputFile } = shared;
  return {
    ...{ port, managementPort, client: new Client(port) },
    output: () => readFileSync(outputFile, "utf8"),
    stop: () => Promise.resolve(),
  };
}

/** Starts it with an empty data directory, removed with the server. */
export function startAlone({ env = {}, readOnlyToken }: Settings): Promise<AloneServer> {
  return startSeeded(env, [{ users: areOwnUsers ? users : [], readOnlyToken }]);
}

/**
 * Starts it with seeds in its data directory, which is removed with the server. `outputFile`: a file to which its
 * output is written as well.
 */
export async function startSeeded(
  env: Readonly<Record<string, string>>,
  seeds: readonly Seed[],
  outputFile?: string,
): Promise<AloneServer> {
  const folder = mkdtempSync(join(tmpdir(), "posthaste-e2e-"));
  const dataDir = join(folder, "data");
  await seedStandalone(dataDir, seeds);
  const port = await freePort(managementDistance);
  const server = new ServerProcess(
    { POSTHASTE_PORT: String(port), POSTHASTE_DATA_DIR: dataDir, ...env },
    { outputFile },
  );
  await server.start();
  return {
    port,
    managementPort: port + managementDistance,
    client: new Client(port, env["POSTHASTE_TOKEN"]),
    output: () => server.output,
    process: server,
    dataDir,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
