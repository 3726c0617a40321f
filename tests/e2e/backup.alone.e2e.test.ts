/** Tests a copy of the running standalone's store, made as in docs/backup.md, and a server over it. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "@jest/globals";
import { freePort } from "@posthaste/local";
import { type Block, blocksOf } from "@posthaste/testing/pages";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { Client } from "./client.ts";
import { ServerProcess } from "./server-process.ts";

const folder = temporaryFolder();
const started: ServerProcess[] = [];

async function serverOver(name: string) {
  const port = await freePort();
  const dataDir = join(folder, name);
  const server = new ServerProcess({ POSTHASTE_PORT: String(port), POSTHASTE_DATA_DIR: dataDir });
  started.push(server);
  await server.start();
  return { server, client: new Client(port) };
}

afterAll(async () => {
  await Promise.all(started.map((server) => server.kill()));
});

/** Leaves out the start of a server, which the test does itself. */
const run = ([block]: readonly Block[]) =>
  promisify(execFile)("sh", ["-euc", (block?.code ?? "").replace(/^.*npm start.*$/m, "")], {
    cwd: folder,
    env: { PATH: process.env["PATH"] },
  });

it("a backup holds the messages and the keys of before it was made, and the server continues meanwhile", async () => {
  const url = "http://127.0.0.1:9/later";
  const { server, client } = await serverOver(".posthaste");
  const before = await client.published(url, { "service-delay": "1h" });

  await run(blocksOf("sh backup"));

  const after = await client.published(url, { "service-delay": "1h" });
  const keys = (await client.get("/v2/keys")).json();
  await server.kill();
  await run(blocksOf("sh restore"));
  const restored = await serverOver("restored");
  const found = await Promise.all(
    [before, after].map(async (id) => (await restored.client.get(`/v2/messages/${id}`)).status),
  );
  expect(found).toEqual([200, 404]);
  expect((await restored.client.get("/v2/keys")).json()).toEqual(keys);
  expect((await restored.client.published(url, { "service-delay": "1h" })).startsWith("msg_")).toBe(
    true,
  );
});
