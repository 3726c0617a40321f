/** The six services as processes, over stores that are shared with other tests and rooms in them that are not. */
import { randomBytes } from "node:crypto";
import { openDocuments } from "@posthaste/documents-mongo";
import { startServices } from "@posthaste/local";
import { untilAvailable } from "@posthaste/ports";
import { testStores } from "@posthaste/testing";
import { Client } from "./client.ts";
import { parts, readOnly } from "./seed.ts";
import { type Settings, type TestServer } from "./test-server.ts";

export async function startApart({ env = {}, readOnlyToken }: Settings): Promise<TestServer> {
  const room = `e2e-${randomBytes(6).toString("hex")}`;
  const stores = testStores();
  const [mongodb] = stores.mongodb;
  if (readOnlyToken !== undefined && mongodb)
    await seedReadOnlyToken({ uri: mongodb.uri, database: room }, readOnlyToken);
  const services = await startServices({
    stores,
    room,
    env: {
      POSTHASTE_LOG_LEVEL: "warn",
      // What is shared by many small installations on one busy host.
      POSTHASTE_KAFKA_PARTITIONS: "2",
      POSTHASTE_REDIS_BUDGET_MS: "5000",
      ...env,
    },
  });
  const { port } = services.gateway;
  return {
    port,
    managementPort: services.management.port,
    client: new Client(port, env["POSTHASTE_TOKEN"]),
    output: () => services.output(),
    stop: () => services.stop(),
  };
}

/** Into the database, before there is any service; the first of them makes its tenant. */
async function seedReadOnlyToken(
  place: { readonly uri: string; readonly database: string },
  token: string,
): Promise<void> {
  const documents = await openDocuments({ ...place, ...parts });
  await untilAvailable(parts.clock, () => documents.ports.accounts.putToken(readOnly(token)));
  await documents.close();
}
