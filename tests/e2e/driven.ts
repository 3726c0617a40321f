/** Tests unmodified clients in other languages: a program for each, in the folder `clients`, calls every method of its client. */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { bareEnv } from "@posthaste/testing/bare-env";
import { Client } from "./client.ts";
import { type Arrival, Destination } from "./destination.ts";
import { Operator, operatorEnv, untilStatus } from "./operator.ts";
import { startServer, type TestServer } from "./server.ts";

export type Driven = {
  readonly name: string;
  /** The program that the host lacks, or undefined. */
  readonly missing: string | undefined;
  readonly prepare: () => Promise<{ readonly drive: Command; readonly verify: Command }>;
  /** The paths at which a delivery of each journey arrives. */
  readonly arrivals: readonly string[];
  readonly broken: readonly string[];
  /** The path of a delivery that arrives before the keys are rotated. */
  readonly signed: string;
};
type Command = readonly [file: string, ...args: string[]];

type Called = { readonly method: string; readonly error: string | null };
type Keys = { readonly current: string; readonly next: string };

/** The client may have to be fetched and built. */
const prepareMsMax = 10 * 60_000;
const driveMsMax = 5 * 60_000;

/** Tests the client. Skipped, with the reason in its name, on a host without the client's language. */
export function itIsServed(driven: Driven): void {
  const { name, missing, arrivals } = driven;
  const called = `gives every method of ${name} what it asks for`;
  if (missing !== undefined) {
    it.skip(`${called} (not checked: this host has no ${missing})`, () => undefined);
    return;
  }
  let commands: Awaited<ReturnType<Driven["prepare"]>>;
  let server: TestServer;
  let destination: Destination;
  let keys: Keys;
  let calls: readonly Called[];
  beforeAll(async () => {
    commands = await driven.prepare();
    [server, destination] = await Promise.all([
      startServer({ env: operatorEnv }),
      Destination.start(),
    ]);
    const tenant = `driven-${randomUUID()}`;
    const operator = new Operator(server);
    // The clients also send requests without a prefixed header.
    await operator.post("/v2/tenants", { id: tenant, dialect: "upstash" });
    const token = await operator.token(tenant);
    await untilStatus(new Client(server.port, token), 200);
    for (const path of driven.broken)
      destination.answers(path, (_, response) => response.writeHead(404).end("none"));
    keys = await keysOf(server.port, token);
    calls = await drive(commands.drive, server.port, token, destination);
  }, prepareMsMax + driveMsMax);
  afterAll(async () => {
    await destination.stop();
    await server.stop();
  });

  it(called, () => {
    const failed = calls.filter(({ error }) => error !== null);
    expect(calls.length).toBeGreaterThan(0);
    expect(failed).toEqual([]);
  });

  it.each(arrivals)(`delivers what ${name} sends to %s`, async (path) => {
    expect((await destination.arrival(path)).headers).toHaveProperty("upstash-message-id");
  });

  it(`signs so that the receiver of ${name} verifies it, and no other body`, async () => {
    const arrival = await destination.arrival(driven.signed);
    const url = destination.url(driven.signed);

    await expect(run(commands.verify, {}, proof(arrival, keys, url))).resolves.toBeDefined();
    const forged = proof({ ...arrival, body: Buffer.from("another") }, keys, url);
    await expect(run(commands.verify, {}, forged)).rejects.toThrow();
  });
}

const proof = ({ headers, body }: Arrival, keys: Keys, url: string): string =>
  JSON.stringify({ ...keys, signature: headers["upstash-signature"], body: body.toString(), url });

async function keysOf(port: number, token: string): Promise<Keys> {
  const response = await fetch(`http://127.0.0.1:${port}/v2/keys`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await response.json()) as Keys;
}

async function drive(
  command: Command,
  port: number,
  token: string,
  destination: Destination,
): Promise<readonly Called[]> {
  const output = await run(command, {
    QSTASH_URL: `http://127.0.0.1:${port}`,
    QSTASH_TOKEN: token,
    DESTINATION: `http://127.0.0.1:${destination.port}`,
  });
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Called);
}

async function run(
  [file, ...args]: Command,
  env: Record<string, string>,
  input = "",
): Promise<string> {
  const running = promisify(execFile)(file, args, {
    env: { ...bareEnv, ...env },
    timeout: driveMsMax,
  });
  running.child.stdin?.end(input);
  return (await running).stdout;
}
