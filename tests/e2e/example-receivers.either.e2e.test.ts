/** Tests the receivers of examples/receiver, each as a process, and the output of examples/publish for an order sent to each. */
import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { type Readable } from "node:stream";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { freePort } from "@posthaste/local";
import { blocksOf } from "@posthaste/testing/pages";
import { type Client, eventually } from "./client.ts";
import { service } from "./dialects.ts";
import { developmentToken } from "./server-process.ts";
import { startServer, type TestServer } from "./server.ts";
import { firstUser } from "./users.ts";

const folder = join(import.meta.dirname, "../../examples/receiver");
/** Receivers for a hosting platform, which a stand-in host runs here. */
const hosted: ReadonlySet<string> = new Set(["next.ts", "cloudflare.ts", "lambda.ts"]);
const host = join(import.meta.dirname, "receiver-host.ts");
const [receiving] = blocksOf("sh receiver");
const [publishing] = blocksOf("sh publisher");

let server: TestServer;
let client: Client;
let receiver: ChildProcessByStdio<null, Readable, Readable>;
let port: number;
let said = "";

beforeAll(async () => {
  server = await startServer();
  client = server.client;
});
afterAll(async () => {
  await server.stop();
});
afterEach(() => {
  receiver.kill();
});

const env = () => ({
  PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
  ...{ POSTHASTE_URL: `http://127.0.0.1:${server.port}`, POSTHASTE_TOKEN: developmentToken },
  ...{ POSTHASTE_SIGNING_KEY: firstUser.keys.current },
  ...{ POSTHASTE_NEXT_SIGNING_KEY: firstUser.keys.next },
});
const here = (code = ""): string => code.trim().replaceAll("3000", String(port));

/** Starts the receiver as its page says. Resolves with its URL when it listens. */
async function receive(file: string): Promise<string> {
  port = await freePort();
  said = "";
  // Replaces the shell, so that the signal ends the program.
  const program = hosted.has(file) ? `${host} ${file}` : file;
  const command = here(receiving?.code)
    .replace("node ", "exec node ")
    .replace("express.ts", program);
  receiver = spawn("sh", ["-euc", command], {
    cwd: folder,
    env: env(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [receiver.stdout, receiver.stderr])
    stream.on("data", (text: Buffer) => (said += text.toString()));
  const url = `http://127.0.0.1:${port}`;
  await eventually(
    () => fetch(url).catch(() => undefined),
    (answer) => answer !== undefined,
  );
  return `${url}/orders`;
}

describe.each([
  ...["node-http.ts", "express.ts", "fastify.ts", "hono.ts"],
  ...["next.ts", "cloudflare.ts", "lambda.ts"],
])("the receiver of %s", (file) => {
  it("takes an order at the second attempt, and the publisher sees each attempt", async () => {
    await receive(file);
    const command = here(publishing?.code).replace(/ 17$/, ` ${file}`);

    const { stdout } = await promisify(execFile)("sh", ["-euc", command], {
      cwd: folder,
      env: env(),
    });

    expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([
      expect.stringMatching(/^msg_/),
      ...["CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "DELIVERED", ""],
    ]);
    expect(stdout).toContain("ERROR 503");
    expect(said).toContain(`packed ${file}: lamp\n`);
  });

  it("refuses a body that is not an order, and a foreign signature, without a retry", async () => {
    const url = await receive(file);
    const letterOf = (label: string) =>
      eventually(
        () => client.get(`/v2/dlq?label=${label}`),
        (reply) => reply.list("messages").length === 1,
      );

    await client.published(url, service({ Label: `none-${file}`, Retries: "5" }), '{"id":17}');
    const unsigned = await fetch(url, { method: "POST", body: '{"id":"17","items":[]}' });

    expect((await letterOf(`none-${file}`)).list("messages")[0]).toMatchObject({
      responseStatus: 489,
      responseBody: "this is not an order",
    });
    expect(unsigned.status).toBe(401);
    expect(said).not.toContain("packed");
  });
});
