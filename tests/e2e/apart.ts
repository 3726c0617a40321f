/** Runs the six services as processes, over shared stores with a database and prefix for each test. */
import { hash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { openDocuments } from "@posthaste/documents-mongo";
import { startServices } from "@posthaste/local";
import { testStores } from "@posthaste/testing";
import { Client } from "./client.ts";
import { isEmpty, parts, seed, type Seed } from "./seed.ts";
import { mayShare } from "./shared-env.ts";
import { type SharedServices, sharedServices } from "./shared-services.ts";
import { type Settings, type TestServer } from "./test-server.ts";
import { areOwnUsers, firstUser, users } from "./users.ts";

export const servicesEnv = {
  POSTHASTE_LOG_LEVEL: "warn",
  // Smaller shares, since many small installations share one busy host.
  POSTHASTE_KAFKA_PARTITIONS: "2",
  POSTHASTE_REDIS_BUDGET_MS: "5000",
};

export async function startApart(settings: Settings): Promise<TestServer> {
  const shared = sharedServices();
  return shared && mayShare(settings) ? join(shared, settings) : startOwn(settings);
}

async function join(
  { port, managementPort, room, outputFile }: SharedServices,
  { readOnlyToken }: Settings,
): Promise<TestServer> {
  await seedDatabase(room, { users, readOnlyToken });
  await untilKnown(new Client(port, readOnlyToken ?? firstUser.token));
  return {
    port,
    managementPort,
    client: new Client(port),
    output: () => readFileSync(outputFile, "utf8"),
    stop: () => Promise.resolve(),
  };
}

async function startOwn({ env = {}, readOnlyToken }: Settings): Promise<TestServer> {
  const room = `e2e-${randomBytes(6).toString("hex")}`;
  await seedDatabase(room, { users: areOwnUsers ? users : [], readOnlyToken });
  const services = await startServices({
    stores: testStores(),
    room,
    env: { ...servicesEnv, ...env },
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

async function seedDatabase(database: string, wanted: Seed): Promise<void> {
  if (isEmpty(wanted)) return;
  const uri = testStores().mongodb?.uri ?? "";
  const documents = await openDocuments({ uri, database, ...parts });
  // The services of a room have this key, too.
  await seed(documents.ports.accounts, hash("sha256", database, "buffer"), wanted);
  await documents.close();
}

/** A gateway looks up an unknown token at most once a second, and ten failures from one network are too many. */
async function untilKnown(client: Client): Promise<void> {
  for (let asked = 0; (await client.get("/v2/me")).status !== 200; asked++) {
    if (asked === 60) throw new Error("the gateway does not know the users that were made");
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
