/** Runs the script of docs/migration.md unchanged, between two servers. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { blocksOf } from "@posthaste/testing/pages";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { type AloneServer, startAlone } from "./alone.ts";
import { type Json, listOf } from "./json.ts";
import { developmentToken } from "./server-process.ts";

const folder = temporaryFolder();
let from: AloneServer;
let to: AloneServer;
let said = "";

beforeAll(async () => {
  [from, to] = await Promise.all([startAlone({}), startAlone({})]);
  await furnish();
  // The script may run again.
  await migrate();
  said = await migrate();
}, 180_000);
afterAll(async () => {
  await from.stop();
  await to.stop();
});

const url = "http://127.0.0.1:9/hook";

async function furnish(): Promise<void> {
  const { client } = from;
  const post = async (path: string, headers = {}, body: string | Uint8Array = "") => {
    const { status, text } = await client.post(path, headers, body);
    if (status > 202) throw new Error(`${path}: ${text}`);
  };
  const endpoints = [{ url: `${url}/a`, name: "a" }, { url: `${url}/b?c=1` }];
  await post("/v2/topics/orders/endpoints", {}, JSON.stringify({ endpoints }));
  const headers = JSON.stringify({ headers: { "Upstash-Retries": "4" } });
  await client.call("PATCH", "/v2/topics/orders", {}, headers);
  await post("/v2/queues", {}, '{"queueName":"mail","parallelism":5}');
  await post("/v2/queues", {}, '{"queueName":"held","parallelism":1}');
  await post("/v2/queues/held/pause");
  await post(
    `/v2/schedules/${url}?d=1`,
    {
      "upstash-cron": "CRON_TZ=Europe/Berlin 0 9 * * MON-FRI",
      "upstash-schedule-id": "report",
      "upstash-method": "PUT",
      "upstash-retries": "7",
      "upstash-retry-delay": "1000 * pow(2, retried)",
      "upstash-timeout": "90s",
      "upstash-delay": "30s",
      "upstash-callback": `${url}/callback`,
      "upstash-callback-forward-x-shop": "north",
      "upstash-failure-callback": `${url}/failed`,
      "upstash-flow-control-key": "shop 17",
      "upstash-flow-control-value": "parallelism=3, rate=10, period=60",
      "upstash-label": "daily,report",
      "upstash-forward-x-shop": "north",
      "content-type": "application/json",
    },
    '{"kind":"daily"}',
  );
  await post(`/v2/schedules/orders`, { "upstash-cron": "*/5 * * * *" }, Buffer.from([0, 255, 128]));
  await post("/v2/schedules/report/pause");
  await post(`/v2/schedules/${url}`, {
    "upstash-cron": "0 0 1 1 *",
    "upstash-schedule-id": "queued",
    "upstash-queue-name": "mail",
  });
  await post(
    `/v2/schedules/${url}`,
    {
      "upstash-cron": "0 0 1 1 *",
      "upstash-redact-fields": "body",
      "upstash-schedule-id": "secret",
    },
    "secret",
  );
}

async function migrate(): Promise<string> {
  writeFileSync(join(folder, "migrate.ts"), blocksOf("ts migrate")[0]?.code ?? "");
  const script = (blocksOf("sh migrate")[0]?.code ?? "")
    .replace("https://qstash.upstash.io", `http://127.0.0.1:${from.port}`)
    .replace("http://127.0.0.1:8080", `http://127.0.0.1:${to.port}`);
  const tokens = { OLD_TOKEN: developmentToken, NEW_TOKEN: developmentToken };
  const env = { PATH: process.env["PATH"], NODE_NO_WARNINGS: "1", ...tokens };
  const ran = await promisify(execFile)("sh", ["-euc", script], { cwd: folder, env });
  return ran.stdout;
}

/** Reads a list without the fields that differ by server. */
const read = async (server: AloneServer, path: string): Promise<readonly Json[]> =>
  listOf((await server.client.get(path)).json()).map(
    ({ createdAt, updatedAt, callerIP, nextScheduleTime, isPaused, ...rest }) => rest,
  );

it.each(["/v2/topics", "/v2/queues"])(
  "a migration copies everything that %s lists",
  async (path) => {
    const copied = await read(to, path);

    expect(copied).toHaveLength(path === "/v2/topics" ? 1 : 2);
    expect(copied).toEqual(await read(from, path));
  },
);

it("a migration copies schedules with all their settings, paused, and names those that it cannot copy", async () => {
  const originals = await read(from, "/v2/schedules");
  const copies = await read(to, "/v2/schedules");

  const isOpen = ({ scheduleId }: Json) => scheduleId !== "secret";
  expect(copies).toHaveLength(3);
  expect(copies).toEqual(originals.filter(isOpen));
  for (const schedule of (await to.client.get("/v2/schedules")).list())
    expect(schedule["isPaused"]).toBe(true);
  expect(said).toContain("schedule report (is paused there, too)\n");
  expect(said).toContain("schedule secret is redacted: make it by hand\n");
});
