import { describe, expect, it } from "@jest/globals";
import { type z } from "zod";
import { planBounds } from "@posthaste/domain";
import { developmentUsers } from "@posthaste/http";
import { callerVariables } from "./callers.ts";
import { dumpConfig } from "./dump.ts";
import { type Environment, loadConfig } from "./load.ts";
import { configSchemas } from "./services.ts";
import { onServersToo, ownKeys, production } from "./variables.fixture.ts";

/** Returns the problems, one a line; empty if the configuration was loaded. */
function problemsOf(env: Environment, files: Readonly<Record<string, string>> = {}): string[] {
  const readFile = (path: string): string => {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    return text;
  };
  const loaded = loadConfig(configSchemas.standalone, { env, readFile });
  return loaded.kind === "loaded" ? [] : loaded.message.split("\n").slice(1);
}

function standalone(env: Environment, files?: Readonly<Record<string, string>>) {
  const readFile = (path: string): string => files?.[path] ?? "";
  const loaded = loadConfig(configSchemas.standalone, { env, readFile });
  if (loaded.kind === "refused") throw new Error(loaded.message);
  return loaded.config;
}

const { standalone: _, ...onServers } = configSchemas;
const servicesOnServers =
  Object.entries<z.ZodObject<Readonly<Record<string, z.ZodType>>>>(onServers);

describe("a configuration", () => {
  it("may let a process drain for as long as the longest call of any plan", () => {
    const longest = planBounds.timeoutMsMax.max / 1_000;

    expect(standalone({ POSTHASTE_DRAIN_SECONDS: `${longest}` }).drainSeconds).toBe(longest);
  });

  it("of an empty environment is the dev profile on the loopback address", () => {
    expect(standalone({})).toEqual({
      profile: "dev",
      logLevel: "info",
      drainSeconds: 25,
      host: "127.0.0.1",
      keptBodiesDiskPercent: 80,
      port: 8080,
      trustedProxies: [],
      devOrigins: "local",
      token: undefined,
      signingKeyCurrent: undefined,
      signingKeyNext: undefined,
      dialect: "service",
      managementUser: undefined,
      managementPassword: undefined,
      allowPrivateCidrs: [],
      maxInFlight: 1_000,
      maxPerOrigin: 100,
      maxInFlightMib: 128,
      maxInlineHistoryKib: 3_072,
      maxWaiting: 10_000,
      otelMetricExportInterval: 60_000,
      scheduleLateMinutes: 60,
      traceRatio: 0.01,
      dataDir: "./.posthaste",
      auditDays: 90,
      catcher: true,
      console: "apps/console/dist",
      oidcScopes: "openid",
      oidcGroupsClaim: "groups",
    });
  });

  it.each(servicesOnServers)(
    "of %s, which runs on servers, is the production profile",
    (_, schema) => {
      const loaded = loadConfig(schema, { env: onServersToo });

      expect(loaded).toMatchObject({ kind: "loaded", config: { profile: "production" } });
    },
  );

  it("cannot be changed afterwards", () => {
    const config = standalone({ POSTHASTE_TRUSTED_PROXIES: "10.0.0.0/8" });

    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.trustedProxies)).toBe(true);
  });

  it("takes an empty variable as not set", () => {
    expect(standalone({ POSTHASTE_PORT: "", POSTHASTE_TOKEN: "" }).port).toBe(8080);
  });

  it("has no catcher in production by default", () => {
    expect(standalone(production).catcher).toBe(false);
    expect(standalone({ ...production, POSTHASTE_CATCHER: "on" }).catcher).toBe(true);
  });

  it.each(Object.keys(callerVariables))("may hold %s, which callers read", (name) => {
    expect(problemsOf({ [name]: "http://of-a-caller.example" })).toEqual([]);
  });

  it("may hold variables of other services", () => {
    const env = { ...onServersToo, POSTHASTE_MAX_IN_FLIGHT: "5" };

    expect(loadConfig(configSchemas.scheduler, { env }).kind).toBe("loaded");
  });
});

describe("a variable of OpenTelemetry", () => {
  it.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "https://user@collector/v1/metrics"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_TRACES_EXPORTER", "zipkin"],
    ["OTEL_METRICS_EXPORTER", "prometheus"],
    ["OTEL_LOGS_EXPORTER", "console"],
    ["OTEL_METRIC_EXPORT_INTERVAL", "0"],
    ["OTEL_SDK_DISABLED", "yes"],
  ])("%s may not be %s, and the problem names it", (name, text) => {
    expect(problemsOf({ [name]: text })).toEqual([
      expect.stringMatching(new RegExp(`^  - ${name} is ".+": must be `)),
    ]);
  });

  it("that says neither whether nor where is not ours to refuse", () => {
    expect(problemsOf({ OTEL_EXPORTER_OTLP_HEADERS: "a=b", OTEL_OTHER: "x" })).toEqual([]);
  });
});

describe("signing in by a provider", () => {
  const provider = {
    POSTHASTE_OIDC_ISSUER: "https://login.example/realms/a",
    POSTHASTE_OIDC_CLIENT_ID: "posthaste",
    POSTHASTE_CONSOLE_URL: "https://posthaste.example/tools/console/",
    POSTHASTE_OIDC_TENANTS: "ops team=acme, lookers=acme:read, on call=acme:operate",
  };
  const operator = {
    POSTHASTE_MANAGEMENT_CONSOLE_URL: "http://localhost:8082/console/",
    POSTHASTE_OIDC_OPERATORS: "admins, /sre = operator, audit=viewer, cn=root, cn=ops=admin",
  };

  it("knows which groups are which tenant, and which operators of which role", () => {
    const { oidcOperators, oidcTenants } = standalone({ ...provider, ...operator });

    expect(oidcTenants).toEqual([
      ["ops team", { tenant: "acme", scope: "full" }],
      ["lookers", { tenant: "acme", scope: "read" }],
      ["on call", { tenant: "acme", scope: "operate" }],
    ]);
    expect(oidcOperators).toEqual([
      ["admins", "admin"],
      ["/sre", "operator"],
      ["audit", "viewer"],
      ["cn=root", "admin"],
      ["cn=ops", "admin"],
    ]);
  });

  it.each([
    ["POSTHASTE_OIDC_ISSUER", "login.example"],
    ["POSTHASTE_OIDC_ISSUER", "http://login.example"],
    ["POSTHASTE_OIDC_ISSUER", "https://user@login.example"],
    ["POSTHASTE_OIDC_ISSUER", "https://login.example/?a=b"],
    ["POSTHASTE_OIDC_CLIENT_ID", "of us"],
    ["POSTHASTE_OIDC_CLIENT_SECRET", "a secret"],
    ["POSTHASTE_OIDC_SCOPES", "profile"],
    ["POSTHASTE_OIDC_GROUPS_CLAIM", "the groups"],
    ["POSTHASTE_CONSOLE_URL", "https://posthaste.example/"],
    ["POSTHASTE_CONSOLE_URL", "http://posthaste.example/console/"],
    ["POSTHASTE_CONSOLE_URL", "javascript:alert(1)//console/"],
    ["POSTHASTE_MANAGEMENT_CONSOLE_URL", "https://ops.example/console"],
    ["POSTHASTE_OIDC_TENANTS", "ops"],
    ["POSTHASTE_OIDC_TENANTS", "ops=acme:write"],
    ["POSTHASTE_OIDC_TENANTS", "ops=a b"],
    ["POSTHASTE_OIDC_TENANTS", "ops=acme,,b=acme"],
    ["POSTHASTE_OIDC_TENANTS", "ops=acme,ops=acme:read"],
    ["POSTHASTE_OIDC_OPERATORS", "admins,"],
    ["POSTHASTE_OIDC_OPERATORS", "admins,admins=viewer"],
  ])("%s is refused as %j", (name, text) => {
    const [problem, ...others] = problemsOf({ ...provider, ...operator, [name]: text });

    expect([problem, others.length]).toEqual([expect.stringContaining(`- ${name}`), 0]);
    expect(problem?.includes(text)).toBe(name !== "POSTHASTE_OIDC_CLIENT_SECRET");
  });

  it.each([
    ["POSTHASTE_OIDC_ISSUER", provider, "POSTHASTE_OIDC_TENANTS"],
    ["POSTHASTE_OIDC_CLIENT_ID", provider, "POSTHASTE_OIDC_TENANTS"],
    ["POSTHASTE_CONSOLE_URL", provider, "POSTHASTE_OIDC_TENANTS"],
    ["POSTHASTE_MANAGEMENT_CONSOLE_URL", { ...provider, ...operator }, "POSTHASTE_OIDC_OPERATORS"],
  ])("is refused without %s", (name, env, wants) => {
    expect(problemsOf({ ...env, [name]: "" })).toEqual([
      `  - ${name} is not set: ${wants} requires it`,
    ]);
  });

  it("is refused where no group is let in", () => {
    expect(problemsOf({ ...provider, POSTHASTE_OIDC_TENANTS: "" })).toEqual([
      "  - POSTHASTE_OIDC_ISSUER is set without any group: set POSTHASTE_OIDC_TENANTS or POSTHASTE_OIDC_OPERATORS",
    ]);
  });
});

describe("a refusal", () => {
  it("names all problems at once, each with its rule and default", () => {
    const env = { POSTHASTE_PORT: "80a", POSTHASTE_CATCHER: "yes", POSTHASTE_DRAIN_SECONDS: "-1" };

    expect(problemsOf(env)).toEqual([
      `  - POSTHASTE_DRAIN_SECONDS is "-1": must be a whole number from 0 to 604800 (default 25)`,
      `  - POSTHASTE_PORT is "80a": must be a whole number from 0 to 65533 (default 8080)`,
      `  - POSTHASTE_CATCHER is "yes": must be on or off (default on in dev, off in production)`,
    ]);
  });

  it("names a misspelt variable, and the nearest known one", () => {
    expect(
      problemsOf({
        POSTHASTE_PROT: "1",
        POSTHASTE_COLOUR: "red",
        POSTHASTE_MAX_PER_ORIGIN_FILE: "x",
      }),
    ).toEqual([
      "  - POSTHASTE_PROT is not a variable of Posthaste: is it POSTHASTE_PORT?",
      "  - POSTHASTE_COLOUR is not a variable of Posthaste",
      "  - POSTHASTE_MAX_PER_ORIGIN_FILE is not a variable of Posthaste",
    ]);
  });

  it("never shows a secret", () => {
    const problems = problemsOf({
      POSTHASTE_TOKEN: "canary with spaces",
      POSTHASTE_SIGNING_KEY_CURRENT: "canary",
      POSTHASTE_MANAGEMENT_PASSWORD: "canary ",
    });

    expect(problems).toHaveLength(3);
    expect(problems.join()).not.toContain("canary");
  });

  it.each([
    ["POSTHASTE_PORT", ["65534", "1e3", "0x50", "８０", " 80", "80.0", "-1"]],
    ["POSTHASTE_HOST", ["a b", "http://x", "x/y"]],
    ["POSTHASTE_LOG_LEVEL", ["INFO", "trace"]],
    ["POSTHASTE_PROFILE", ["development", "prod"]],
    [
      "POSTHASTE_TRUSTED_PROXIES",
      ["10.0.0.0/33", "::/129", "10.0.0/8", "x", "10.0.0.1,", "fe80::1%eth0", "1.2.3.4/"],
    ],
    ["POSTHASTE_MAX_IN_FLIGHT", ["0", "100001"]],
    ["POSTHASTE_SCHEDULE_LATE_MINUTES", ["-1", "1441", "1h"]],
  ])("%s may not be %j", (name, texts) => {
    for (const text of texts) expect(problemsOf({ [name]: text })).toHaveLength(1);
  });
});

describe("secrets", () => {
  it("may come from files, without the line break at their end", () => {
    const env = { POSTHASTE_TOKEN_FILE: "/run/secrets/token" };

    expect(standalone(env, { "/run/secrets/token": "s3cret\n" }).token).toBe("s3cret");
  });

  it("may not come twice, nor from a file that is not there", () => {
    const both = { POSTHASTE_TOKEN: "a", POSTHASTE_TOKEN_FILE: "/t" };

    expect(problemsOf(both, { "/t": "b" })).toEqual([
      "  - POSTHASTE_TOKEN and POSTHASTE_TOKEN_FILE are both set: use one",
    ]);
    expect(problemsOf({ POSTHASTE_TOKEN_FILE: "/none" })).toEqual([
      "  - POSTHASTE_TOKEN_FILE cannot be read: ENOENT",
    ]);
  });

  it("are only shown as set or not set in a dump", () => {
    const dump = dumpConfig(configSchemas.standalone, standalone(production));

    expect(dump).toMatchObject({
      POSTHASTE_TOKEN: "(set)",
      POSTHASTE_MANAGEMENT_PASSWORD: "(not set)",
      POSTHASTE_PORT: "8080",
      POSTHASTE_CATCHER: "off",
    });
    expect(JSON.stringify(dump)).not.toContain(production.POSTHASTE_TOKEN);
    expect(JSON.stringify(dump)).not.toContain("sig_");
  });
});

it.each([
  ["POSTHASTE_MONGODB_POOL", ["0", "1001"]],
  ["POSTHASTE_MONGODB_HEAVY_POOL", ["2", "1001"]],
  ["POSTHASTE_MONGODB_PATIENCE_MS", ["2000", "60001"]],
  ["POSTHASTE_KAFKA_SESSION_MS", ["999", "300001"]],
  ["POSTHASTE_KAFKA_REQUEST_MS", ["999", "20001"]],
  ["POSTHASTE_MONGODB_HEAVY_MS", ["99", "2401", "59901"]],
])("pools and waits of stores have bounds: %s may not be %j", (name, texts) => {
  for (const text of texts)
    expect(
      loadConfig(configSchemas.scheduler, { env: { ...onServersToo, [name]: text } }),
    ).toMatchObject({ kind: "refused", message: expect.stringContaining(name) });
});

describe("production", () => {
  it("starts with credentials of its own", () => {
    expect(problemsOf(production)).toEqual([]);
  });

  it("wants a token and both signing keys", () => {
    expect(problemsOf({ POSTHASTE_PROFILE: "production" })).toEqual(
      ["TOKEN", "SIGNING_KEY_CURRENT", "SIGNING_KEY_NEXT"].map(
        (name) => `  - POSTHASTE_${name} is not set: the production profile requires its own`,
      ),
    );
  });

  it.each(developmentUsers)("refuses the public credentials of $userId", ({ token, keys }) => {
    const problems = problemsOf({
      POSTHASTE_PROFILE: "production",
      POSTHASTE_TOKEN: token,
      POSTHASTE_SIGNING_KEY_CURRENT: keys.current,
      POSTHASTE_SIGNING_KEY_NEXT: keys.next,
    });

    expect(problems).toHaveLength(3);
    for (const problem of problems) expect(problem).toContain("is a public development credential");
  });

  const tokenOf = (password: string): string =>
    Buffer.from(JSON.stringify({ UserID: "me", Password: password })).toString("base64");

  it.each([
    ["31 characters", "t".repeat(31), 1],
    ["32 characters", "t".repeat(32), 0],
    ["a user with a short password", tokenOf("x".repeat(15)), 1],
    ["a user with a long password", tokenOf("x".repeat(16)), 0],
  ])("checks a token of %s", (_, token, problems) => {
    expect(problemsOf({ ...production, POSTHASTE_TOKEN: token })).toHaveLength(problems);
  });

  it("wants a long management password", () => {
    const management = { POSTHASTE_MANAGEMENT_USER: "ops", POSTHASTE_MANAGEMENT_PASSWORD: "short" };

    expect(problemsOf({ ...production, ...management })).toHaveLength(1);
    expect(problemsOf(management)).toEqual([]);
  });
});

describe("operators that may do less", () => {
  const admin = { POSTHASTE_MANAGEMENT_USER: "ops", POSTHASTE_MANAGEMENT_PASSWORD: "p".repeat(16) };
  const long = "p".repeat(16);

  it("are listed with their passwords, which may hold colons", () => {
    const { managementOperators, managementViewers } = standalone({
      ...admin,
      POSTHASTE_MANAGEMENT_OPERATORS: "anna:a:b",
      POSTHASTE_MANAGEMENT_VIEWERS: "ben:c däna:d",
    });

    expect(managementOperators).toEqual([{ user: "anna", password: "a:b", role: "operator" }]);
    expect(managementViewers).toEqual([
      { user: "ben", password: "c", role: "viewer" },
      { user: "däna", password: "d", role: "viewer" },
    ]);
  });

  it.each([
    ["anna", "must be user:password"],
    ["anna:", "must be user:password"],
    [":secret", "must be user:password"],
    ["anna:secret  ben:secret", "must be user:password"],
    ["anna:secret anna:other", "must name each user once"],
    ["ops:secret", "must name each user once"],
  ])("are refused as %j, and not shown", (text, why) => {
    for (const name of ["POSTHASTE_MANAGEMENT_OPERATORS", "POSTHASTE_MANAGEMENT_VIEWERS"]) {
      const [problem = "", ...others] = problemsOf({ ...admin, [name]: text });

      expect(others).toEqual([]);
      expect(problem).toContain(name);
      expect(problem).toContain(why);
      expect(problem).not.toContain("secret");
    }
  });

  it("want the management API, and in production long passwords", () => {
    const viewers = { POSTHASTE_MANAGEMENT_VIEWERS: `ben:${long} anna:short` };

    expect(problemsOf(viewers)).toEqual([
      "  - POSTHASTE_MANAGEMENT_USER is not set: POSTHASTE_MANAGEMENT_VIEWERS requires it",
    ]);
    expect(problemsOf({ ...production, ...admin, ...viewers })).toEqual([
      "  - POSTHASTE_MANAGEMENT_VIEWERS: each password must have 16 characters or more in production",
    ]);
    expect(problemsOf({ ...admin, ...viewers })).toEqual([]);
  });
});

describe("variables that go together", () => {
  it.each([
    [{ POSTHASTE_SIGNING_KEY_CURRENT: ownKeys.POSTHASTE_SIGNING_KEY_CURRENT }],
    [{ ...ownKeys, POSTHASTE_SIGNING_KEY_NEXT: ownKeys.POSTHASTE_SIGNING_KEY_CURRENT }],
    [{ POSTHASTE_MANAGEMENT_USER: "ops" }],
    [{ POSTHASTE_MANAGEMENT_PASSWORD: "x" }],
  ])("are refused when they do not: %j", (env) => {
    expect(problemsOf(env)).toHaveLength(1);
  });
});
