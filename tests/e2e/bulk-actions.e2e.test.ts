import { describe, expect, it } from "@jest/globals";
import { eventually } from "./client.ts";
import { service } from "./dialects.ts";
import { type Json, textOf } from "./json.ts";
import { client, destination, other, startBeforeTests } from "./suite.ts";

startBeforeTests();

const publishHeld = async (count: number, label: string): Promise<void> => {
  const headers = service({ Delay: "1h", Label: label });
  const item = { destination: destination.url("/held"), headers };
  const items = JSON.stringify(Array.from({ length: count }, () => item));
  const reply = await client.post("/v2/batch", {}, items);
  if (reply.status !== 200) throw new Error(reply.text);
};
const begun = async (query: string): Promise<Json> => {
  const reply = await client.delete(`/v2/messages?${query}`);
  expect(reply.status).toBe(202);
  return reply.object();
};
const actionOf = async (id: unknown): Promise<Json> =>
  (await client.get(`/v2/bulkActions/${textOf(id)}`)).object();
const finished = (id: unknown): Promise<Json> =>
  eventually(
    () => actionOf(id),
    ({ state }) => state === "FINISHED",
  );
const matching = async (label: string): Promise<unknown> =>
  (await client.delete(`/v2/messages?label=${label}&dryRun=true`)).object()["matched"];

describe("DELETE /v2/messages with async=true", () => {
  it("202 answers the number of matches and the id of a bulk action, which cancels all of them", async () => {
    await publishHeld(700, "many");
    const before = Date.now();

    const { cancelled, actionId } = await begun("label=many&host=127.0.0.1&async=true");

    expect(cancelled).toBe(700);
    expect(textOf(actionId)).toMatch(/^bulk_[0-9A-Za-z]{26}$/);
    const action = await finished(actionId);
    expect(action).toEqual({
      actionId,
      kind: "cancel",
      state: "FINISHED",
      total: 700,
      processed: 700,
      createdAt: expect.any(Number),
      completedAt: expect.any(Number),
      filter: { label: ["many"], host: ["127.0.0.1"] },
    });
    expect(Number(action["completedAt"])).toBeGreaterThanOrEqual(Number(action["createdAt"]));
    expect(Number(action["createdAt"])).toBeGreaterThan(before - 1_000);
    expect(await matching("many")).toBe(0);
  });

  it("202 takes the filter and async from the body, too", async () => {
    await publishHeld(3, "body");

    const body = JSON.stringify({ label: "body", async: true });
    const reply = await client.call("DELETE", "/v2/messages", {}, body);

    expect(reply.status).toBe(202);
    expect(await finished(reply.object()["actionId"])).toMatchObject({ processed: 3 });
  });

  it("cancels no message that is published after the answer", async () => {
    await publishHeld(1, "later");
    const { actionId } = await begun("label=later&async=true");
    await publishHeld(2, "later");

    expect(await finished(actionId)).toMatchObject({ processed: 1 });
    expect(await matching("later")).toBe(2);
  });

  it("202 with a count, or by ids, cancels in one call and makes no bulk action", async () => {
    await publishHeld(3, "counted");

    expect(await begun("label=counted&count=2&async=true")).toEqual({ cancelled: 2 });
    expect(await begun("messageIds=msg_unknown&async=true")).toEqual({ cancelled: 0 });
  });

  it("400 refuses an async that is neither true nor false, and cancels nothing", async () => {
    await publishHeld(1, "asynk");

    const reply = await client.delete("/v2/messages?label=asynk&async=1");

    expect([reply.status, reply.error()]).toEqual([400, "async: must be true or false"]);
    expect(await matching("asynk")).toBe(1);
  });
});

describe("DELETE /v2/messages by a filter alone", () => {
  it("202 answers when all are cancelled, and leaves a finished bulk action in the list", async () => {
    await publishHeld(2, "waited");

    expect(await begun("label=waited")).toEqual({ cancelled: 2 });

    const { bulkActions } = (await client.get("/v2/bulkActions?count=1")).object();
    expect(bulkActions).toMatchObject([
      { state: "FINISHED", total: 2, processed: 2, filter: { label: ["waited"] } },
    ]);
  });
});

describe("GET /v2/bulkActions", () => {
  it("200 lists the tenant's bulk actions, the latest first, page by page", async () => {
    for (const label of ["p1", "p2", "p3"]) await begun(`label=${label}`);

    const first = (await client.get("/v2/bulkActions?count=2&state=FINISHED")).object();
    const cursor = encodeURIComponent(textOf(first["cursor"]));
    const second = await client.get(`/v2/bulkActions?count=2&state=FINISHED&cursor=${cursor}`);

    const labelsOf = (page: Json): unknown =>
      (page["bulkActions"] as readonly { filter: Json }[]).map(({ filter }) => filter["label"]);
    expect(labelsOf(first)).toEqual([["p3"], ["p2"]]);
    expect(labelsOf(second.object())).toMatchObject([["p1"], {}]);
    expect((await other.get("/v2/bulkActions")).object()).toEqual({ bulkActions: [] });
  });

  it("200 begins at the time that a cursor of digits names", async () => {
    await begun("label=now");

    const reply = await client.get("/v2/bulkActions?cursor=1000");

    expect(reply.object()).toEqual({ bulkActions: [] });
  });

  it("200 leaves bulk actions in other states out of a page, which may become short", async () => {
    await begun("label=state");

    const reply = await client.get("/v2/bulkActions?state=IN_PROGRESS&count=1");

    expect(reply.object()["bulkActions"]).toEqual([]);
  });

  it.each([
    ["state=DONE", "state: must be IN_PROGRESS or FINISHED"],
    ["count=1001", "count: must be"],
    ["count=0", "count: must be"],
    ["cursor=x", "cursor: "],
    ["kind=cancel", 'unknown parameter "kind"'],
  ])("400 refuses %s", async (query, text) => {
    const reply = await client.get(`/v2/bulkActions?${query}`);

    expect([reply.status, reply.error()]).toEqual([400, expect.stringContaining(text)]);
  });

  it("404 for an unknown bulk action and for another tenant's", async () => {
    const { actionId } = await begun("label=mine&async=true");

    const reply = await client.get("/v2/bulkActions/bulk_none");
    const theirs = await other.get(`/v2/bulkActions/${textOf(actionId)}`);

    expect([reply.status, reply.error()]).toEqual([404, "bulk action bulk_none not found"]);
    expect(theirs.status).toBe(404);
  });
});
