/** A MongoDB and a Redis that require TLS and a certificate, as a process with these variables uses them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from "@jest/globals";
import {
  askMongod,
  freePort,
  type RunningMongo,
  type RunningRedis,
  startMongod,
  startRedis,
} from "@posthaste/local";
import { configSchemas, loadConfig, processParts } from "@posthaste/process";
import {
  anotherAuthority,
  authority,
  certificateKey,
  clientCertificate,
  recordingLog,
  serverCertificate,
} from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { openDocuments } from "./documents.ts";
import { openTokens } from "./tokens.ts";

const startMsMax = 300_000;
jest.setTimeout(120_000);
const waitMsMax = 60_000;
const user = "CN=posthaste,O=Clients";
const x509 = `mongodb://${encodeURIComponent(user)}@`;
const byCertificate = { authMechanism: "MONGODB-X509", authSource: "$external" };

const dir = temporaryFolder();
const fileOf = (name: string, text: string): string => {
  const file = join(dir, name);
  writeFileSync(file, text);
  return file;
};
const [ca, otherCa] = [fileOf("ca.pem", authority), fileOf("other-ca.pem", anotherAuthority)];
// MongoDB's own tools require both in one file; here the file may be named twice.
const ownPem = fileOf("own.pem", `${clientCertificate}${certificateKey}`);

let server: RunningMongo;
let close: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  const shown = fileOf("server.pem", `${serverCertificate}${certificateKey}`);
  mkdirSync(join(dir, "data"));
  const tls = ["--tlsMode", "preferTLS", "--tlsCertificateKeyFile", shown, "--tlsCAFile", ca];
  server = await startMongod({ dir: join(dir, "data") }, tls);
  const made = { createUser: user, roles: [{ role: "readWrite", db: "posthaste" }] };
  await askMongod(server, made, "$external");
  await askMongod(server, { setParameter: 1, tlsMode: "requireTLS" });
}, startMsMax);
afterEach(() => close());
afterAll(async () => {
  await server.process.stop();
});

/** Returns the texts of readiness and log once MongoDB is up, or down for a reason. */
async function started(
  files: Readonly<Record<string, string>>,
  { before = "mongodb://", options = {} } = {},
) {
  const env = {
    POSTHASTE_MONGODB_URI: `${before}127.0.0.1:${server.port}/?${new URLSearchParams(options).toString()}`,
    POSTHASTE_SEALING_KEYS: Buffer.alloc(32, 1).toString("base64"),
    POSTHASTE_KAFKA_BROKERS: "127.0.0.1:1",
    ...files,
  };
  const loaded = loadConfig(configSchemas["workflow-log"], { env });
  if (loaded.kind === "refused") throw new Error(loaded.message);
  const log = recordingLog();
  const parts = { ...processParts("workflow-log", loaded.config), log };
  const documents = await openDocuments(parts, loaded.config);
  ({ close } = documents);
  const said = () => log.lines.find(({ event }) => /^documents[.](up|down)$/.test(event));
  const until = Date.now() + waitMsMax;
  while (!said() && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
  return { event: said()?.event, reason: said()?.fields["reason"], parts };
}

const trusting = { POSTHASTE_MONGODB_TLS_CA_FILE: ca };
const showing = {
  POSTHASTE_MONGODB_TLS_CERTIFICATE_FILE: ownPem,
  POSTHASTE_MONGODB_TLS_KEY_FILE: ownPem,
};

describe("a MongoDB that requires TLS and a certificate", () => {
  it("is reached with its authority and a certificate of one's own, in files", async () => {
    const { event, parts } = await started({ ...trusting, ...showing });

    expect(event).toBe("documents.up");
    expect(parts.readiness.missing()).toEqual([]);
  });

  it("takes the certificate for the user (X.509)", async () => {
    const asUser = { before: x509, options: byCertificate };

    expect((await started({ ...trusting, ...showing }, asUser)).event).toBe("documents.up");
  });

  it.each([
    [
      "another authority",
      { ...showing, POSTHASTE_MONGODB_TLS_CA_FILE: otherCa },
      "MONGODB_TLS_CA_FILE",
    ],
    ["no authority", showing, "MONGODB_TLS_CA_FILE"],
    ["no certificate", trusting, "MONGODB_TLS_CERTIFICATE_FILE"],
    ["no TLS", {}, "MONGODB_URI"],
  ])(
    "refuses or is refused with %s, and readiness and one log line name the variable",
    async (_, files, variable) => {
      const { event, reason, parts } = await started(files);

      expect(event).toBe("documents.down");
      expect(reason).toContain(`POSTHASTE_${variable}`);
      expect(parts.readiness.missing().join()).toContain(String(reason));
    },
  );
});

describe("a Redis that requires TLS and a certificate", () => {
  let redis: RunningRedis;
  let tlsPort: number;

  beforeAll(async () => {
    tlsPort = await freePort();
    mkdirSync(join(dir, "redis"));
    redis = await startRedis(
      { dir: join(dir, "redis") },
      {
        "tls-port": `${tlsPort}`,
        "tls-cert-file": fileOf("redis.pem", `${serverCertificate}${certificateKey}`),
        "tls-key-file": fileOf("redis-key.pem", certificateKey),
        "tls-ca-cert-file": ca,
        "tls-auth-clients": "yes",
      },
    );
  }, startMsMax);
  afterAll(() => redis.process.stop());

  /** Returns the texts of readiness and log once Redis is up, or down for a reason. */
  async function reached(files: Readonly<Record<string, string>>, scheme = "rediss") {
    const env = {
      POSTHASTE_MONGODB_URI: "mongodb://127.0.0.1:1",
      POSTHASTE_SEALING_KEYS: Buffer.alloc(32, 1).toString("base64"),
      POSTHASTE_KAFKA_BROKERS: "127.0.0.1:1",
      POSTHASTE_REDIS_URL: `${scheme}://127.0.0.1:${tlsPort}`,
      POSTHASTE_REDIS_BUDGET_MS: "5000",
      POSTHASTE_REDIS_CONNECT_MS: "20000",
      ...files,
    };
    const loaded = loadConfig(configSchemas.scheduler, { env });
    if (loaded.kind === "refused") throw new Error(loaded.message);
    const log = recordingLog();
    const parts = { ...processParts("scheduler", loaded.config), log };
    const tokens = openTokens(parts, loaded.config);
    close = () => tokens.close();
    const said = () => log.lines.find(({ event }) => /^tokens[.](up|down)$/.test(event));
    const until = Date.now() + waitMsMax;
    while (!said() && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
    return { event: said()?.event, reason: said()?.fields["reason"], parts };
  }

  const toRedis = { POSTHASTE_REDIS_TLS_CA_FILE: ca };
  const shown = {
    POSTHASTE_REDIS_TLS_CERTIFICATE_FILE: ownPem,
    POSTHASTE_REDIS_TLS_KEY_FILE: ownPem,
  };

  it("is reached with its authority and a certificate of one's own, in files", async () => {
    const { event, parts } = await reached({ ...toRedis, ...shown });

    expect(event).toBe("tokens.up");
    expect(parts.readiness.missing()).toEqual([]);
  });

  const sentinels = { POSTHASTE_REDIS_MODE: "sentinel", POSTHASTE_REDIS_MASTER: "master" };

  it("is reported as away, and not as asking for TLS, if no sentinel answers", async () => {
    const nowhere = { ...sentinels, POSTHASTE_REDIS_URL: "redis://127.0.0.1:1,127.0.0.1:2" };
    const { event, reason } = await reached(nowhere);

    expect(event).toBe("tokens.down");
    expect(reason).toContain("ECONNREFUSED");
    expect(reason).not.toContain("TLS");
  });

  it.each([
    [
      "another authority",
      { ...shown, POSTHASTE_REDIS_TLS_CA_FILE: otherCa },
      "rediss",
      "TLS_CA_FILE",
    ],
    ["no authority", shown, "rediss", "TLS_CA_FILE"],
    ["no certificate", toRedis, "rediss", "TLS_CERTIFICATE_FILE"],
    ["no TLS", {}, "redis", "URL"],
    ["no TLS to a sentinel", sentinels, "redis", "URL"],
  ])(
    "refuses or is refused with %s, and a log line names the variable",
    async (_, files, scheme, variable) => {
      const { event, reason } = await reached(files, scheme);

      expect(event).toBe("tokens.down");
      expect(reason).toContain(`POSTHASTE_REDIS_${variable}`);
    },
  );
});
