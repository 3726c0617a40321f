/** Tests the variables that name the stores: addresses, Redis, and TLS. */
import { describe, expect, it } from "@jest/globals";
import {
  anotherAuthority,
  anotherKey,
  authority,
  certificateKey,
  clientCertificate,
} from "@posthaste/testing";
import { type Environment, loadConfig } from "./load.ts";
import { configSchemas } from "./services.ts";
import { onServersToo } from "./variables.fixture.ts";

describe("the addresses of servers", () => {
  const schema = configSchemas.scheduler;

  it("are lists where there may be several", () => {
    const loaded = loadConfig(schema, { env: onServersToo });

    expect(loaded).toMatchObject({
      config: { kafkaBrokers: ["kafka-0:9092", "[::1]:9093"], redisBudgetMs: 50 },
    });
  });

  it.each([
    ["POSTHASTE_KAFKA_BROKERS", "kafka"],
    ["POSTHASTE_KAFKA_BROKERS", "kafka:0"],
    ["POSTHASTE_KAFKA_BROKERS", "kafka:65536"],
    ["POSTHASTE_KAFKA_BROKERS", "kafka:9092,"],
    ["POSTHASTE_KAFKA_BROKERS", "kafka://kafka:9092"],
    ["POSTHASTE_KAFKA_PARTITIONS", "65"],
    ["POSTHASTE_REDIS_URL", "redis:6379"],
    ["POSTHASTE_REDIS_URL", "http://redis"],
    ["POSTHASTE_MONGODB_URI", "mongo:27017"],
    ["POSTHASTE_MONGODB_DATABASE", "a.b"],
    ["POSTHASTE_SEALING_KEYS", "dG9vIHNob3J0"],
    ["POSTHASTE_KAFKA_USER", "without-a-password"],
    ["POSTHASTE_KAFKA_MECHANISM", "gssapi"],
    ["POSTHASTE_KAFKA_TLS_CA", "no certificate"],
    ["POSTHASTE_KAFKA_OAUTH_TOKEN_URL", "http://issuer.example/token"],
    ["POSTHASTE_KAFKA_OAUTH_SCOPE", "a  b"],
  ])("are refused by their variable: %s=%s", (name, value) => {
    const loaded = loadConfig(schema, { env: { ...onServersToo, [name]: value } });

    expect(loaded).toMatchObject({ kind: "refused", message: expect.stringContaining(name) });
  });

  const oauth = {
    POSTHASTE_KAFKA_MECHANISM: "oauthbearer",
    POSTHASTE_KAFKA_OAUTH_TOKEN_URL: "https://issuer.example/token",
    POSTHASTE_KAFKA_OAUTH_CLIENT_ID: "posthaste",
    POSTHASTE_KAFKA_OAUTH_CLIENT_SECRET: "s",
  };
  const user = { POSTHASTE_KAFKA_USER: "u", POSTHASTE_KAFKA_PASSWORD: "p" };
  it.each([
    [oauth, []],
    [{ ...oauth, POSTHASTE_KAFKA_OAUTH_CLIENT_SECRET: "" }, ["OAUTH_CLIENT_SECRET is not set"]],
    [{ ...oauth, ...user }, ["USER is set: oauthbearer has no user"]],
    [
      { ...oauth, POSTHASTE_KAFKA_MECHANISM: "" },
      [
        "OAUTH_TOKEN_URL is set, and POSTHASTE_KAFKA_MECHANISM is not oauthbearer",
        "OAUTH_CLIENT_ID is set",
        "OAUTH_CLIENT_SECRET is set",
      ],
    ],
    [{ POSTHASTE_KAFKA_MECHANISM: "aws-msk-iam", POSTHASTE_KAFKA_TLS: "on" }, []],
    [{ POSTHASTE_KAFKA_MECHANISM: "aws-msk-iam" }, ["TLS is off: aws-msk-iam requires TLS"]],
    [{ POSTHASTE_KAFKA_TLS: "on", POSTHASTE_KAFKA_TLS_CA: authority }, []],
    [{ POSTHASTE_KAFKA_TLS_CA: authority }, ["TLS is off, and POSTHASTE_KAFKA_TLS_CA_FILE"]],
    [
      { POSTHASTE_KAFKA_TLS: "on", POSTHASTE_KAFKA_TLS_KEY: certificateKey },
      ["TLS_CERTIFICATE_FILE and POSTHASTE_KAFKA_TLS_KEY_FILE go together"],
    ],
  ])("of Kafka have one kind of connection: %j", (env, problems) => {
    const loaded = loadConfig(schema, { env: { ...onServersToo, ...env } });

    const told = loaded.kind === "loaded" ? [] : loaded.message.split("\n").slice(1);
    expect(told).toHaveLength(problems.length);
    for (const [i, problem] of problems.entries())
      expect(told[i]).toContain(`POSTHASTE_KAFKA_${problem}`);
  });

  it("are wanted, all of them", () => {
    const loaded = loadConfig(schema, { env: {} });

    for (const name of ["KAFKA_BROKERS", "REDIS_URL", "MONGODB_URI", "SEALING_KEYS"])
      expect(loaded).toMatchObject({ message: expect.stringContaining(`POSTHASTE_${name}`) });
  });
});

describe("Redis", () => {
  const load = (env: Environment, readFile = () => "") =>
    loadConfig(configSchemas.scheduler, { env: { ...onServersToo, ...env }, readFile });
  const mode = (of: string, url: string): Environment => ({
    POSTHASTE_REDIS_MODE: of,
    POSTHASTE_REDIS_URL: url,
  });

  it.each([
    mode("single", "redis://redis:6379/1"),
    mode("cluster", "rediss://user:p%40ss@a:6379,10.0.0.1,[fd00::1]:7000"),
    mode("cluster", "redis://one/0"),
    {
      ...mode("sentinel", "redis://a:26379,b,c:26379/3"),
      POSTHASTE_REDIS_MASTER: "main",
      POSTHASTE_REDIS_SENTINEL_USER: "user",
      POSTHASTE_REDIS_SENTINEL_PASSWORD: "password",
    },
    { POSTHASTE_REDIS_BUDGET_MS: "2000", POSTHASTE_REDIS_CONNECT_MS: "2000" },
    { POSTHASTE_REDIS_BUDGET_MS: "10000" },
  ])("is found by %j", (env) => {
    expect(load(env)).toMatchObject({ kind: "loaded" });
  });

  it.each([
    ["names several hosts", mode("single", "redis://a,b")],
    ["must name at most 64 hosts", mode("cluster", "redis://a,,b")],
    ["must name at most 64 hosts", mode("sentinel", "redis://a:x")],
    ["must name at most 64 hosts", mode("cluster", `redis://${"a,".repeat(64)}a`)],
    ["names a database", mode("cluster", "redis://a,b/1")],
    ["POSTHASTE_REDIS_MODE is", mode("clustered", "redis://a")],
    ["POSTHASTE_REDIS_SENTINEL_USER requires", { POSTHASTE_REDIS_SENTINEL_USER: "user" }],
    [
      "POSTHASTE_REDIS_SENTINEL_PASSWORD requires",
      { ...mode("cluster", "redis://a,b"), POSTHASTE_REDIS_SENTINEL_PASSWORD: "password" },
    ],
    [
      "POSTHASTE_REDIS_CONNECT_MS must not be less",
      { POSTHASTE_REDIS_BUDGET_MS: "2001", POSTHASTE_REDIS_CONNECT_MS: "2000" },
    ],
    ["begins with redis:", { POSTHASTE_REDIS_TLS_CA_FILE: "/ca" }],
  ])("is refused with one line: %s", (line, env) => {
    const loaded = load(env, () => authority);

    const [, ...problems] = loaded.kind === "refused" ? loaded.message.split("\n") : [];
    expect(problems).toEqual([expect.stringContaining(line)]);
    expect(problems.join()).not.toContain("secret");
  });
});

describe("TLS to MongoDB", () => {
  const pems: Readonly<Record<string, string>> = {
    "/ca": `# of the company\n${authority}${anotherAuthority}`,
    "/own": `${clientCertificate}${certificateKey}`,
    "/certificate": clientCertificate,
    "/key": certificateKey,
    "/other-key": anotherKey,
    "/empty": "",
    "/text": "no certificate",
    "/broken": authority.replace("MII", "MIX"),
    "/encrypted":
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----",
  };
  const readFile = (path: string): string => {
    const text = pems[path];
    if (text === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    return text;
  };
  const load = (env: Environment) =>
    loadConfig(configSchemas.management, { env: { ...onServersToo, ...env }, readFile });
  const files = (given: Readonly<Record<string, string>>): Environment =>
    Object.fromEntries(
      Object.entries(given).map(([part, file]) => [`POSTHASTE_MONGODB_TLS_${part}_FILE`, file]),
    );

  it.each([
    ["its authorities", files({ CA: "/ca" })],
    ["a certificate and its key", files({ CERTIFICATE: "/certificate", KEY: "/key" })],
    ["both in one file", files({ CA: "/ca", CERTIFICATE: "/own", KEY: "/own" })],
  ])("takes %s", (_, env) => {
    expect(load(env)).toMatchObject({ kind: "loaded" });
  });

  it.each([
    ["_CA_FILE cannot be read: ENOENT", files({ CA: "/none" })],
    ["_KEY_FILE cannot be read: ENOENT", files({ CERTIFICATE: "/certificate", KEY: "/none" })],
    ["the contents of POSTHASTE_MONGODB_TLS_CA_FILE must be certificates", files({ CA: "/empty" })],
    ["the contents of POSTHASTE_MONGODB_TLS_CA_FILE must be certificates", files({ CA: "/text" })],
    [
      "the contents of POSTHASTE_MONGODB_TLS_CA_FILE must be certificates",
      files({ CA: "/broken" }),
    ],
    ["_CA_FILE must be certificates", files({ CA: "/key" })],
    ["that is not encrypted", files({ CERTIFICATE: "/certificate", KEY: "/encrypted" })],
    ["_KEY_FILE is not the key of", files({ CERTIFICATE: "/certificate", KEY: "/other-key" })],
    ["go together: set both or none", files({ CERTIFICATE: "/certificate" })],
    ["go together: set both or none", files({ KEY: "/key" })],
    [
      "POSTHASTE_MONGODB_URI says tls=false",
      { ...files({ CA: "/ca" }), POSTHASTE_MONGODB_URI: "mongodb://a/?replicaSet=r&tls=false" },
    ],
  ])("refuses with one line: %s", (line, env) => {
    const loaded = load(env);

    const [, ...problems] = loaded.kind === "refused" ? loaded.message.split("\n") : [];
    expect(problems).toEqual([expect.stringContaining(line)]);
    expect(problems.join()).not.toContain("-----");
  });
});
