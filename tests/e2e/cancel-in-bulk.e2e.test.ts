import { describe, expect, it } from "@jest/globals";
import { eventually, equals } from "./client.ts";
import { service } from "./dialects.ts";
import { client, destination, other, startBeforeTests } from "./suite.ts";

startBeforeTests();

const held = (by = client, headers: Record<string, string> = {}): Promise<string> =>
  by.published(destination.url("/held"), service({ Delay: "1h", ...headers }));
const several = async (count: number): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await held());
  return ids;
};
const cancel = (query: string, body?: unknown, by = client) =>
  by.call("DELETE", `/v2/messages${query}`, {}, body === undefined ? "" : JSON.stringify(body));
const isCancelled = async (id: string, by = client): Promise<boolean> => {
  const { status } = await by.delete(`/v2/messages/${id}`);
  return status === 404;
};
const lastState = async (id: string) =>
  (await client.listed(`/v2/events?messageId=${id}&order=latestFirst`, "events"))[0]?.["state"];

describe("DELETE /v2/messages by ids", () => {
  it("202 counts each cancelled message once, whether the query or the body names it", async () => {
    const [a = "", b = "", c = "", d = "", left = ""] = await several(5);
    const theirs = await held(other);

    const inQuery = await cancel(`?messageIds=${a},${b}&messageId=${a}`);
    const inBody = await cancel("", { messageIds: [b, c, d, theirs, "msg_unknown"] });

    expect([inQuery.status, inQuery.object()]).toEqual([202, { cancelled: 2 }]);
    expect([inBody.status, inBody.object()]).toEqual([202, { cancelled: 2 }]);
    for (const id of [a, b, c, d]) await eventually(() => lastState(id), equals("CANCELED"));
    expect([await isCancelled(left), await isCancelled(theirs, other)]).toEqual([false, false]);
  });

  it("202 cancels nothing for an empty list", async () => {
    const id = await held();

    const reply = await cancel("", { messageIds: [] });

    expect([reply.status, reply.object()]).toEqual([202, { cancelled: 0 }]);
    expect(await isCancelled(id)).toBe(false);
  });

  it.each([
    ["an empty id", "?messageIds=", undefined],
    ["an id that is none", "", { messageIds: [{}] }],
    ["ids in both places", "?messageIds=a", { messageIds: ["b"] }],
    ["a trailing slash", "/", undefined],
    ["a trailing slash and ids", "/?messageIds=a", undefined],
  ])("400 for %s, and nothing is cancelled", async (_, query, body) => {
    const id = await held();

    const reply = await cancel(query, body);

    expect(reply.status).toBe(400);
    expect(await isCancelled(id)).toBe(false);
  });
});

describe("DELETE /v2/messages by filters", () => {
  it("202 cancels messages that match all of them, in the query or in the body", async () => {
    const both = await held(client, {
      Label: "red",
      "Flow-Control-Key": "k",
      "Flow-Control-Value": "parallelism=1",
    });
    const red = await held(client, { Label: "red" });
    const blue = await held(client, { Label: "blue" });
    const theirs = await held(other, { Label: "red" });

    const inQuery = await cancel("?label=red&flowControlKey=k");
    const inBody = await cancel("", { label: ["blue"], host: "127.0.0.1", path: ["/held"] });

    expect([inQuery.status, inQuery.object()]).toEqual([202, { cancelled: 1 }]);
    expect([inBody.status, inBody.object()]).toEqual([202, { cancelled: 1 }]);
    expect([await isCancelled(both), await isCancelled(blue)]).toEqual([true, true]);
    expect([await isCancelled(red), await isCancelled(theirs, other)]).toEqual([false, false]);
  });

  it("202 cancels no more messages than `count`", async () => {
    for (let n = 0; n < 3; n++) await held(client, { Label: "counted" });

    const counts: unknown[] = [];
    while (counts.length < 3) counts.push((await cancel("?label=counted&count=2")).object());

    expect(counts).toEqual([{ cancelled: 2 }, { cancelled: 1 }, { cancelled: 0 }]);
  });

  it("202 cancels the children of a group publish, also those that are not made yet", async () => {
    const endpoints = ["/g1", "/g2", "/g3"].map((path) => ({ url: destination.url(path) }));
    await client.postJson("/v2/topics/bulk/endpoints", { endpoints });
    await client.publish("bulk", service({ Delay: "1h", Label: "fanned" }));

    const reply = await cancel("?topicName=bulk&label=fanned");

    expect(reply.object()).toEqual({ cancelled: 3 });
  });

  it("200 with dryRun counts, and cancels nothing", async () => {
    const ids = [await held(client, { Label: "dry" }), await held(client, { Label: "dry" })];

    const byFilter = await cancel("?label=dry&dryRun=true");
    const byIds = await cancel("", { messageIds: [...ids, "msg_unknown"], dryRun: true });

    expect([byFilter.status, byFilter.object()]).toEqual([200, { dryRun: true, matched: 2 }]);
    expect([byIds.status, byIds.object()]).toEqual([200, { dryRun: true, matched: 2 }]);
    for (const id of ids) expect(await isCancelled(id)).toBe(false);
  });

  it("202 without any filter cancels every message of the tenant, and none of another tenant", async () => {
    const mine = await several(3);
    const theirs = await held(other);

    const reply = await cancel("");

    expect(reply.status).toBe(202);
    expect(Number(reply.object()["cancelled"])).toBeGreaterThanOrEqual(3);
    expect((await cancel("")).object()).toEqual({ cancelled: 0 });
    for (const id of mine) expect(await isCancelled(id)).toBe(true);
    expect(await isCancelled(theirs, other)).toBe(false);
  });
});
