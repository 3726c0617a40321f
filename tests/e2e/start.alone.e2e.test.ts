/**
 * Tests starting (docs/design/security#authentication; docs/configuration.md): what a process needs, and how it reports what
 * is missing.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { commandVariables } from "@posthaste/cli";
import { freePort } from "@posthaste/local";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { Client } from "./client.ts";
import { startAlone, type AloneServer } from "./alone.ts";
import { developmentToken, ServerProcess } from "./server-process.ts";

let server: AloneServer;
const folder = temporaryFolder();

beforeAll(async () => {
  server = await startAlone({});
});
afterAll(async () => {
  await server.stop();
});

const credentials = {
  POSTHASTE_TOKEN: "a-token-of-an-operator-with-more-than-32-characters",
  POSTHASTE_SIGNING_KEY_CURRENT: "sig_current-key-of-an-operator-0123456789",
  POSTHASTE_SIGNING_KEY_NEXT: "sig_next-key-of-an-operator-01234567890123",
};

async function inVain(settings: Record<string, string>) {
  const port = String(await freePort());
  const process = new ServerProcess({
    POSTHASTE_PORT: port,
    POSTHASTE_DATA_DIR: join(folder, port),
    ...settings,
  });
  const code = await process.startInVain();
  return { code, lines: process.output.trimEnd().split("\n"), output: process.output };
}

it("a process starts where the variables of the command line and of receivers are exported", async () => {
  const port = String(await freePort());
  const variables = [...commandVariables, "POSTHASTE_SIGNING_KEY", "POSTHASTE_NEXT_SIGNING_KEY"];
  const process = new ServerProcess({
    ...Object.fromEntries(variables.map((name) => [name, "http://of-a-caller.example"])),
    ...{ POSTHASTE_PORT: port, POSTHASTE_DATA_DIR: join(folder, port) },
    // A colon ends the user of Basic authentication.
    POSTHASTE_MANAGEMENT_USER: "operator",
  });

  await process.start();
  await process.stop();
});

describe("a process does not start", () => {
  it("on a data directory that another process has open, and says so in one line", async () => {
    const { code, lines } = await inVain({ POSTHASTE_DATA_DIR: server.dataDir });

    expect(code).toBe(1);
    expect(lines).toEqual([`the data directory ${server.dataDir} is in use by another process`]);
    expect((await server.client.get("/readyz")).status).toBe(200);
  });

  it("on a port that is in use, and names the port", async () => {
    const { code, lines } = await inVain({ POSTHASTE_PORT: String(server.port) });

    expect(code).toBe(1);
    expect(lines).toEqual([
      expect.stringContaining(
        `cannot listen on 127.0.0.1:${server.port}: the port is taken (EADDRINUSE)`,
      ),
    ]);
    expect(lines.join()).not.toMatch(/stack|\.ts:\d/);
  });

  it("with invalid settings, and names all of them at once", async () => {
    const { code, output } = await inVain({
      POSTHASTE_DRAIN_SECONDS: "-1",
      POSTHASTE_LOG_LEVEL: "loud",
      POSTHASTE_MAX_IN_FLIGHT: "many",
      POSTHASTE_ALLOW_PRIVATE_CIDRS: "10.0.0.0/33",
    });

    expect(code).toBe(78);
    for (const name of ["DRAIN_SECONDS", "LOG_LEVEL", "MAX_IN_FLIGHT", "ALLOW_PRIVATE_CIDRS"]) {
      expect(output).toContain(`POSTHASTE_${name}`);
    }
  });
});

describe("a process in production", () => {
  let production: AloneServer;

  beforeAll(async () => {
    const info = { POSTHASTE_PROFILE: "production", POSTHASTE_LOG_LEVEL: "info" };
    production = await startAlone({ env: { ...info, ...credentials } });
  });
  afterAll(async () => {
    await production.stop();
  });

  it("accepts its own token, and refuses the public one", async () => {
    const own = await production.client.get("/v2/keys");
    const known = await new Client(production.port, developmentToken).get("/v2/keys");

    expect(own.object()).toEqual({
      current: credentials.POSTHASTE_SIGNING_KEY_CURRENT,
      next: credentials.POSTHASTE_SIGNING_KEY_NEXT,
    });
    expect(known.status).toBe(401);
  });

  it.each([
    ["loopback", "http://127.0.0.1:8080/", /loopback/],
    ["loopback by name", "http://localhost:8080/", /loopback/],
    ["a private address", "http://192.168.0.1/", /private/],
    ["a port of the infrastructure", "http://93.184.215.14:6379/", /port 6379/],
    ["a local name", "http://intranet/", /local host name/],
    ["a cluster's name", "http://a.b.svc/", /local host name/],
  ])("400 refuses %s as a destination", async (_, url, error) => {
    const reply = await production.client.publish(url, { "Service-Delay": "1h" });

    expect(reply.status).toBe(400);
    expect(reply.error()).toMatch(error);
  });

  it("200 takes a public destination without resolving its name", async () => {
    const url = "https://no-such-host.example.com/hook";

    expect((await production.client.publish(url, { "Service-Delay": "1h" })).status).toBe(200);
  });

  it("lets in pages of no other origin, prints no secret, and logs in JSON", async () => {
    const reply = await production.client.get("/v2/keys", { origin: "https://console.example" });

    const { output } = production.process;
    const logged = output.split("\n").filter((line) => line.startsWith("{"));
    expect(reply.headers["access-control-allow-origin"]).toBeUndefined();
    for (const secret of Object.values(credentials)) expect(output).not.toContain(secret);
    expect(logged.length).toBeGreaterThan(0);
    expect(() => logged.map((line): unknown => JSON.parse(line))).not.toThrow();
  });
});
