/** Runs the standalone as a process: one server with everything in it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@posthaste/local";
import { Client } from "./client.ts";
import { seedReadOnlyToken } from "./seed.ts";
import { ServerProcess } from "./server-process.ts";
import { type Settings, type TestServer } from "./test-server.ts";

export type AloneServer = TestServer & {
  readonly process: ServerProcess;
  readonly dataDir: string;
};

/** The distance of the management port: docs/design/security#ports. */
const managementDistance = 2;

/** Starts it with an empty data directory, removed with the server. */
export async function startAlone({ env = {}, readOnlyToken }: Settings): Promise<AloneServer> {
  const folder = mkdtempSync(join(tmpdir(), "posthaste-e2e-"));
  const dataDir = join(folder, "data");
  if (readOnlyToken !== undefined) await seedReadOnlyToken(dataDir, readOnlyToken);
  const port = await freePort(managementDistance);
  const server = new ServerProcess({
    POSTHASTE_PORT: String(port),
    POSTHASTE_DATA_DIR: dataDir,
    ...env,
  });
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
