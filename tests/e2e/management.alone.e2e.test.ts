/** Tests the data that management has written: over restarts, and on disk (docs/design/security#secrets). */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { freePort } from "@posthaste/local";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { Client } from "./client.ts";
import { textOf } from "./json.ts";
import { Operator, operatorEnv, operatorPassword } from "./operator.ts";
import { ServerProcess } from "./server-process.ts";

/** Most tests start several processes in sequence, on a host that may be busy. */
jest.setTimeout(600_000);

const credentials = {
  POSTHASTE_TOKEN: "canary-token-of-an-operator-with-more-than-32-characters",
  POSTHASTE_SIGNING_KEY_CURRENT: "canary-current-key-of-an-operator-0123456789",
  POSTHASTE_SIGNING_KEY_NEXT: "canary-next-key-of-an-operator-01234567890123",
};
const firstTenant = "default";

let folder: string;
let dataDir: string;
let running: ServerProcess | undefined;

beforeEach(() => {
  folder = temporaryFolder();
  dataDir = join(folder, "data");
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

/** Uses the production profile, since development secrets are public anyway. */
async function prepare(env: Readonly<Record<string, string>> = {}) {
  const port = await freePort(2);
  const process = new ServerProcess({
    POSTHASTE_PROFILE: "production",
    POSTHASTE_PORT: String(port),
    POSTHASTE_DATA_DIR: dataDir,
    ...credentials,
    ...operatorEnv,
    ...env,
  });
  return { port, process };
}

async function start(env: Readonly<Record<string, string>> = {}) {
  const { port, process } = await prepare(env);
  await process.start();
  running = process;
  const client = new Client(port, credentials.POSTHASTE_TOKEN);
  const ports = { port, managementPort: port + 2 };
  const operator = new Operator({
    ...ports,
    client,
    output: () => process.output,
    stop: () => process.stop(),
  });
  return { ...ports, client, operator, process };
}

async function stop(): Promise<void> {
  await running?.stop();
  running = undefined;
}

async function inVain(env: Readonly<Record<string, string>> = {}) {
  const { process } = await prepare(env);
  const code = await process.startInVain();
  return { code, output: process.output.trimEnd() };
}

/** Makes and changes one of everything. Returns the secrets that it holds or has held. */
async function settle({ operator }: { operator: Operator }): Promise<readonly string[]> {
  await operator.post("/v2/tenants", { id: "acme", plan: { retriesMax: 5 } });
  const token = await operator.token("acme");
  const wanted = { customer_id: "acme", name: "a", endpoint: "a.example" };
  const index = (
    await operator.post("/v2/search", { ...wanted, type: "free", region: "eu-west-1" })
  ).object();
  const rotated = (await operator.post(`/v2/search/${textOf(index["id"])}/rotate`)).object();
  const keys = (await operator.get("/v2/tenants/acme/keys")).object();
  const newKeys = (await operator.post("/v2/tenants/acme/keys/rotate")).object();
  const tokens = [index, rotated].flatMap((one) => [one["token"], one["read_only_token"]]);
  return [token, keys["current"], keys["next"], newKeys["next"], ...tokens].map(textOf);
}

const books = async (operator: Operator): Promise<string> => {
  const paths = ["", "/acme", "/acme/tokens", "/acme/keys", `/${firstTenant}/keys`];
  const replies = await Promise.all([
    operator.get("/v2/search"),
    ...paths.map((path) => operator.get(`/v2/tenants${path}`)),
  ]);
  return replies.map(({ text }) => text).join("\n");
};

function foundOnDisk(texts: readonly string[]): readonly string[] {
  const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name)));
  return texts.filter((text) => files.some((bytes) => bytes.includes(text)));
}

const own = Object.values(credentials);

describe("the work of the operator", () => {
  it("outlives a stop and a kill", async () => {
    const first = await start();
    const [token = ""] = await settle(first);
    const before = await books(first.operator);
    await stop();

    const second = await start();
    const afterStop = await books(second.operator);
    await second.process.kill();
    const third = await start();
    const afterKill = await books(third.operator);

    expect(afterStop).toBe(before);
    expect(afterKill).toBe(before);
    expect((await new Client(third.port, token).get("/v2/keys")).status).toBe(200);
    expect((await third.client.get("/v2/keys")).status).toBe(200);
  });

  it("leaves no secret in clear on the disk, neither at work nor after a stop", async () => {
    const secrets = [...own, ...(await settle(await start())), operatorPassword];

    const found = foundOnDisk(secrets);
    await stop();

    expect(secrets.length).toBeGreaterThan(10);
    expect(found).toEqual([]);
    expect(foundOnDisk(secrets)).toEqual([]);
    // The tenant's name shows that the search works.
    expect(foundOnDisk(["acme"])).toEqual(["acme"]);
    const stored = storedSecrets();
    expect(stored).not.toEqual([]);
    expect(stored.filter((secret) => !secret.startsWith("posthaste-sealed.1."))).toEqual([]);
  });
});

/** Returns the installation's secrets, such as the one that signs cursors. */
function storedSecrets(): readonly string[] {
  const db = new DatabaseSync(join(dataDir, "posthaste.db"), { readOnly: true });
  try {
    return db
      .prepare("SELECT value FROM secrets")
      .all()
      .map(({ value }) => textOf(value));
  } finally {
    db.close();
  }
}

describe("the sealing key", () => {
  const keyFile = (): string => join(dataDir, "sealing.key");
  const randomKey = (): string => randomBytes(32).toString("base64");

  it("is made at the first start, readable for its owner alone, and a start without it names the missing key in one line", async () => {
    await start();
    await stop();
    expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
    expect(Buffer.from(readFileSync(keyFile(), "utf8"), "base64")).toHaveLength(32);
    rmSync(keyFile());

    const { code, output } = await inVain();

    expect(code).toBe(1);
    expect(output).toMatch(
      /^the signing key of default was sealed with the key [0-9a-f]{8}, which is not configured$/,
    );
  });

  it("may move into the environment and change there, and every secret stays readable", async () => {
    const first = await start();
    await settle(first);
    const before = await books(first.operator);
    await stop();

    const [oldKey, newKey] = [randomKey(), randomKey()];
    for (const keys of [oldKey, `${newKey},${oldKey}`, newKey]) {
      const { operator } = await start({ POSTHASTE_SEALING_KEYS: keys });
      expect(await books(operator)).toBe(before);
      await stop();
      // After the first start nothing needs the file, and no later start makes a new one.
      rmSync(keyFile(), { force: true });
    }
  });

  it("is refused when it is invalid, and not printed", async () => {
    const { code, output } = await inVain({ POSTHASTE_SEALING_KEYS: "c2hvcnQ=" });

    expect(code).toBe(78);
    expect(output).toContain("POSTHASTE_SEALING_KEYS must be the base64 of 32 bytes");
    expect(output).not.toContain("c2hvcnQ=");
  });
});

describe("the management listener", () => {
  it("is closed without a user and a password", async () => {
    const port = await freePort(2);
    const quiet = new ServerProcess({
      POSTHASTE_PORT: String(port),
      POSTHASTE_DATA_DIR: dataDir,
    });
    await quiet.start();
    running = quiet;

    await expect(new Client(port + 2, null).get("/v2/search")).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });
  });

  it("is at the printed address, answers health without credentials, and is refused as a destination", async () => {
    const { client, managementPort, process } = await start({ POSTHASTE_PROFILE: "dev" });
    const anonymous = new Client(managementPort, null);

    const health = [await anonymous.get("/healthz"), await anonymous.get("/readyz")];
    const refused = await client.publish(`http://127.0.0.1:${managementPort}/v2/tenants`);

    expect(process.output).toContain(`http://127.0.0.1:${managementPort}\n`);
    expect(health.map(({ status }) => status)).toEqual([200, 200]);
    expect((await anonymous.get("/v2/search")).status).toBe(401);
    expect(refused.status).toBe(400);
    expect(refused.error()).toContain("this service itself");
  });
});
