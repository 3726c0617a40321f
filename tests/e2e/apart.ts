/** Runs the six services as processes, over shared stores with a room for each test. */
import { randomBytes } from "node:crypto";
import { openDocuments } from "@posthaste/documents-mongo";
import { defaultPlan, type Dialect, tenantId } from "@posthaste/domain";
import { type DevelopmentUser, tokenHash } from "@posthaste/http";
import { startServices } from "@posthaste/local";
import { untilAvailable } from "@posthaste/ports";
import { testStores } from "@posthaste/testing";
import { Client } from "./client.ts";
import { consoleFolder } from "./console-folder.ts";
import { parts, readOnly } from "./seed.ts";
import { operatorEnv } from "./operator.ts";
import { type SharedServices, sharedServices } from "./shared-services.ts";
import { type Settings, type TestServer } from "./test-server.ts";
import { firstUser, users } from "./users.ts";

export const servicesEnv = {
  POSTHASTE_LOG_LEVEL: "warn",
  // Smaller shares, since many small installations share one busy host.
  POSTHASTE_KAFKA_PARTITIONS: "2",
  POSTHASTE_REDIS_BUDGET_MS: "5000",
};

/** Variables of the services that suites share: the operator's and the console's. */
export const sharedEnv: Readonly<Record<string, string>> = {
  ...operatorEnv,
  POSTHASTE_CONSOLE: consoleFolder,
};

export async function startApart(settings: Settings): Promise<TestServer> {
  const shared = sharedServices();
  const { env = {}, ownProcesses = false } = settings;
  const isShared = Object.entries(env).every(([name, value]) => sharedEnv[name] === value);
  return shared && isShared && !ownProcesses ? join(shared, settings) : startOwn(settings);
}

async function join(
  { port, managementPort, room }: SharedServices,
  { readOnlyToken }: Settings,
): Promise<TestServer> {
  await seed(room, { users, ...(readOnlyToken !== undefined && { readOnlyToken }) });
  await untilKnown(new Client(port, readOnlyToken ?? firstUser.token));
  return {
    port,
    managementPort,
    client: new Client(port),
    output: () => {
      throw new Error(
        "what these processes print is also about other suites: ask for ownProcesses",
      );
    },
    stop: () => Promise.resolve(),
  };
}

async function startOwn({ env = {}, readOnlyToken }: Settings): Promise<TestServer> {
  const room = `e2e-${randomBytes(6).toString("hex")}`;
  await seed(room, {
    // Elsewhere the users are those of the dev profile, which makes them itself.
    users: sharedServices() ? users : [],
    dialect: env["POSTHASTE_DIALECT"] === "upstash" ? "upstash" : "service",
    ...(readOnlyToken !== undefined && { readOnlyToken }),
  });
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

type Seed = {
  readonly users: readonly DevelopmentUser[];
  readonly dialect?: Dialect;
  readonly readOnlyToken?: string;
};

/** Writes into the database. The read-only token belongs to the first user, who may be made later. */
async function seed(
  database: string,
  { users: made, dialect, readOnlyToken }: Seed,
): Promise<void> {
  if (made.length === 0 && readOnlyToken === undefined) return;
  const uri = testStores().mongodb?.uri ?? "";
  const documents = await openDocuments({ uri, database, ...parts });
  const { accounts } = documents.ports;
  if (readOnlyToken !== undefined)
    await untilAvailable(parts.clock, () => accounts.putToken(readOnly(readOnlyToken)));
  for (const { userId, token, keys } of made) {
    const id = tenantId(userId);
    const tenant = { id, dialect: dialect ?? "service", plan: defaultPlan, keys };
    await untilAvailable(parts.clock, () =>
      accounts.putToken({ hash: tokenHash(token), tenant: id, scope: "full" }),
    );
    await untilAvailable(parts.clock, () => accounts.addTenant(tenant));
  }
  await documents.close();
}

/** A gateway looks up an unknown token at most once a second, and ten failures from one network are too many. */
async function untilKnown(client: Client): Promise<void> {
  for (let asked = 0; (await client.get("/v2/me")).status !== 200; asked++) {
    if (asked === 60) throw new Error("the gateway does not know the users that were made");
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
