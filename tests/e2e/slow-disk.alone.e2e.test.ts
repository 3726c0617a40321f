/** Tests a standalone whose disk takes a second and a half for each sync. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { type AloneServer, startAlone } from "./alone.ts";
import { eventually, equals } from "./client.ts";

jest.setTimeout(180_000);

const hook = `--import=${join(import.meta.dirname, "slow-disk.hook.ts")}`;
let server: AloneServer;

beforeAll(async () => {
  server = await startAlone({ env: { NODE_OPTIONS: hook } });
});
afterAll(() => server.stop());

describe("a server whose disk is slow", () => {
  it("refuses lists while writes wait for the disk, and answers them again afterwards", async () => {
    const statusOfList = async () => (await server.client.get("/v2/topics")).status;
    const before = await statusOfList();
    const writes = new AbortController();
    const publishing = publishUntil(writes.signal);

    const under = await eventually(statusOfList, (status) => status !== 200);
    writes.abort();
    const published = await publishing;
    const after = await eventually(statusOfList, equals(200));

    expect([before, under, after]).toEqual([200, 503, 200]);
    // Publishes are refused last.
    expect(new Set(published)).toEqual(new Set([200]));
  });
});

async function publishUntil(ended: AbortSignal): Promise<readonly number[]> {
  const statuses: number[] = [];
  while (!ended.aborted)
    statuses.push(
      (
        await server.client.call(
          "POST",
          "/v2/publish/http://127.0.0.1:9/",
          { "Service-Delay": "1h" },
          "{}",
        )
      ).status,
    );
  return statuses;
}
