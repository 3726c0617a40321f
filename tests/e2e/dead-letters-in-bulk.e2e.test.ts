/** Tests dead letters retried and removed, by ids and by filters (docs/design/wire#dead-letters). */
import { describe, expect, it } from "@jest/globals";
import { type Client, eventually, hasLength, isFilled } from "./client.ts";
import { always } from "./destination.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { numberOf, textOf } from "./json.ts";
import { readOnlyToken } from "./users.ts";
import { client, destination, startBeforeTests } from "./suite.ts";

startBeforeTests({ readOnlyToken });

const listed = async (query: string, by = client) =>
  await by.listed(`/v2/dlq?${query}`, "messages");

/** Makes dead letters under `label`, and returns their ids, the oldest first. The destination then works again. */
async function failed(
  label: string,
  count: number,
  body = "the body",
  more: Parameters<Client["publish"]>[1] = {},
): Promise<readonly string[]> {
  const path = `/${label}`;
  destination.answers(path, always(500, "broken"));
  const settings = service({ Retries: "0", Label: label, "Forward-X-Mine": "kept" });
  const headers = { ...settings, ...more };
  for (let n = 0; n < count; n++) await client.published(destination.url(path), headers, body);
  const letters = await eventually(() => listed(`label=${label}`), hasLength(count));
  destination.answers(path, always(200));
  return letters.map((letter) => textOf(letter["dlqId"]));
}

const messageIds = (responses: readonly unknown[]) =>
  responses.map((response) => textOf((response as Record<string, unknown>)["messageId"]));

describe.each(dialects)("POST /v2/dlq/retry/{dlqId} with $prefix headers", ({ prefix }) => {
  const name = prefix.slice(0, -1).toLowerCase();

  it("201 makes a new message of the stored one, and removes the letter", async () => {
    const [id = ""] = await failed(`one-${name}`, 1, "bytes \u00e9");

    const reply = await client.post(`/v2/dlq/retry/${id}`);

    expect(reply.status).toBe(201);
    const [, arrival] = await destination.arrivals(`/one-${name}`, 2);
    expect(arrival?.headers).toMatchObject({
      "service-message-id": reply.object()["messageId"],
      "service-retried": "0",
      "x-mine": "kept",
    });
    expect(arrival?.body.toString()).toBe("bytes \u00e9");
    expect((await client.get(`/v2/dlq/${id}`)).status).toBe(404);
    expect((await client.post(`/v2/dlq/retry/${id}`)).status).toBe(404);
  });

  it("201 with replaceBody=true sends the body of the request, and everything else unchanged", async () => {
    const path = `/edited-${name}`;
    const redacted = service({ "Redact-Fields": "body, header[x-mine]" });
    const [id = ""] = await failed(path.slice(1), 1, "the body", {
      ...redacted,
      "content-type": "text/x-mine",
    });
    const edited = Buffer.from([0, 255, 128]);

    const ignored = await failed(`kept-${name}`, 1);
    await client.post(`/v2/dlq/retry/${ignored[0]}`, {}, "no new body");
    const reply = await client.post(`/v2/dlq/retry/${id}?replaceBody=true`, {}, edited);

    expect(reply.status).toBe(201);
    const [, arrival] = await destination.arrivals(path, 2);
    expect(arrival?.body).toEqual(edited);
    expect(arrival?.headers).toMatchObject({ "x-mine": "kept", "content-type": "text/x-mine" });
    const [, kept] = await destination.arrivals(`/kept-${name}`, 2);
    expect(kept?.body.toString()).toBe("the body");
    expect((await client.get(`/v2/dlq/${id}`)).status).toBe(404);
  });

  it("201 makes a message that names the failed one, whose log names the new one", async () => {
    const path = `/linked-${name}`;
    const [id = ""] = await failed(path.slice(1), 1);
    const [letter] = await listed(`dlqIds=${id}`);
    const messageId = textOf(letter?.["messageId"]);

    const retried = (await client.post(`/v2/dlq/retry/${id}`)).object()["messageId"];

    const events = async (of: unknown) =>
      await client.listed(`/v2/events?messageId=${textOf(of)}`, "events");
    const made = await eventually(() => events(retried), isFilled);
    for (const event of made) expect(event["retryOf"]).toEqual({ messageId, dlqId: id });
    const [ended, ...rest] = await eventually(() => events(messageId), isFilled);
    expect(ended).toMatchObject({ state: "FAILED", dlqId: id, retryMessageId: retried });
    for (const event of rest) expect(event).not.toHaveProperty("retryMessageId");
  });

  it("400 for a wrong query parameter, and 413 for a body beyond the plan, keep the letter", async () => {
    const [id = ""] = await failed(`refused-${name}`, 1);

    const unknown = await client.post(`/v2/dlq/retry/${id}?replacesBody=true`, {}, "x");
    const neither = await client.post(`/v2/dlq/retry/${id}?replaceBody=yes`, {}, "x");
    const large = Buffer.alloc(10 * 1024 * 1024 + 1);
    const tooLarge = await client.post(`/v2/dlq/retry/${id}?replaceBody=true`, {}, large);

    expect([unknown.status, neither.status, tooLarge.status]).toEqual([400, 400, 413]);
    expect(neither.error()).toContain("replaceBody");
    expect((await client.get(`/v2/dlq/${id}`)).status).toBe(200);
  });

  it("201 changes the settings that its headers name", async () => {
    const [id = ""] = await failed(`changed-${name}`, 1);
    const headers = inDialect(prefix, { Method: "PUT", "Forward-X-Mine": "new", Delay: "1h" });

    const reply = await client.post(`/v2/dlq/retry/${id}`, headers);

    const message = await client.get(`/v2/messages/${textOf(reply.object()["messageId"])}`);
    expect(message.object()).toMatchObject({
      method: "PUT",
      body: "the body",
      maxRetries: 0,
      label: `changed-${name}`,
      header: { "X-Mine": ["new"] },
    });
    const { notBefore, createdAt } = message.object();
    expect(numberOf(notBefore) - numberOf(createdAt)).toBe(3_600_000);
  });
});

describe("POST /v2/dlq/retry", () => {
  it("201 retries a list of ids in its order, given in the body or in the query", async () => {
    const ids = (await failed("listed", 4)).toReversed();

    const inBody = await client.postJson("/v2/dlq/retry", { dlqIds: ids.slice(0, 2) });
    const inQuery = await client.post(`/v2/dlq/retry?dlqIds=${ids.slice(2).join(",")}`);

    expect([inBody.status, inQuery.status]).toEqual([201, 201]);
    expect(inBody.object()["cursor"]).toBe("");
    const made = [...inBody.list("responses"), ...inQuery.list("responses")];
    expect(new Set(messageIds(made)).size).toBe(4);
    await destination.arrivals("/listed", 8);
    expect(await listed("label=listed")).toEqual([]);
  });

  it("201 retries matching letters, a bounded number in each call, until the cursor is empty", async () => {
    await failed("matching", 5);
    const made: string[] = [];

    for (let cursor: string | undefined; cursor !== "";) {
      const page = { label: "matching", count: 2, ...(cursor !== undefined && { cursor }) };
      const reply = await client.postJson("/v2/dlq/retry", page);
      expect(reply.status).toBe(201);
      made.push(...messageIds(reply.list("responses")));
      cursor = textOf(reply.object()["cursor"]);
    }

    expect(new Set(made).size).toBe(5);
    expect(await listed("label=matching")).toEqual([]);
  });

  it.each([
    ["an empty list of ids", '{"dlqIds":[]}'],
    ["a filter that matches nothing", '{"label":"no such label"}'],
  ])("201 retries none for %s", async (_, body) => {
    const reply = await client.post("/v2/dlq/retry", {}, body);

    expect([reply.status, reply.json()]).toEqual([201, { cursor: "", responses: [] }]);
  });

  it("404 for a list with an id of no letter, and retries none", async () => {
    const ids = await failed("missing", 1);

    const reply = await client.postJson("/v2/dlq/retry", { dlqIds: [...ids, "1-0"] });

    expect([reply.status, reply.error()]).toEqual([404, "dead letter 1-0 not found"]);
    expect(await listed("label=missing")).toHaveLength(1);
  });

  it("200 counts the letters that a dry run would retry, and retries none", async () => {
    await failed("dry", 2);

    const reply = await client.post("/v2/dlq/retry?label=dry&dryRun=true");

    expect([reply.status, reply.json()]).toEqual([200, { dryRun: true, matched: 2 }]);
    expect(await listed("label=dry")).toHaveLength(2);
  });
});

describe("DELETE /v2/dlq", () => {
  it("200 removes a list of ids; missing ones do not count", async () => {
    const ids = await failed("removed", 3);

    const reply = await client.delete("/v2/dlq", JSON.stringify({ dlqIds: [...ids, "1-0"] }));

    expect([reply.status, reply.json()]).toEqual([200, { deleted: 3 }]);
    expect(await listed("label=removed")).toEqual([]);
  });

  it("200 removes matching letters, with a cursor while more may match", async () => {
    await failed("swept", 3);

    const first = await client.delete("/v2/dlq?label=swept&count=2");
    const cursor = encodeURIComponent(textOf(first.object()["cursor"]));
    const second = await client.delete(`/v2/dlq?label=swept&count=2&cursor=${cursor}`);

    expect(first.object()["deleted"]).toBe(2);
    expect(second.json()).toEqual({ deleted: 1 });
    expect(await listed("label=swept")).toEqual([]);
  });

  it("retries and removes no more ids of a list than count, and continues by the cursor", async () => {
    const ids = await failed("counted", 5);
    const page = (cursor?: unknown) => JSON.stringify({ dlqIds: ids, count: 2, cursor });

    const retried = await client.post("/v2/dlq/retry", {}, page());
    expect(retried.list("responses")).toHaveLength(2);
    await destination.arrivals("/counted", 7);
    expect(await listed("label=counted")).toHaveLength(3);
    const more = await client.post("/v2/dlq/retry", {}, page(retried.object()["cursor"]));
    expect(more.list("responses")).toHaveLength(2);
    expect(await listed("label=counted")).toHaveLength(1);
    const [left] = await listed("label=counted");
    const removed = await client.delete("/v2/dlq", page(more.object()["cursor"]));

    expect(removed.json()).toEqual({ deleted: 1 });
    expect(ids).toContain(textOf(left?.["dlqId"]));
    expect(await listed("label=counted")).toEqual([]);
  });

  it("404 for a list with an id of no letter, even behind the ids that count takes", async () => {
    const ids = await failed("counted-missing", 2);

    const body = JSON.stringify({ dlqIds: [...ids, "9999999999999-0"], count: 1 });
    const reply = await client.post("/v2/dlq/retry", {}, body);

    expect(reply.status).toBe(404);
    expect(await listed("label=counted-missing")).toHaveLength(2);
  });

  it("200 removes none for an empty list of ids and in a dry run", async () => {
    await failed("kept", 2);

    const none = await client.delete("/v2/dlq", '{"dlqIds":[]}');
    const dry = await client.delete("/v2/dlq?label=kept&dryRun=true");

    expect(none.json()).toEqual({ deleted: 0 });
    expect(dry.json()).toEqual({ dryRun: true, matched: 2 });
    expect(await listed("label=kept")).toHaveLength(2);
  });
});

describe("a refused call changes nothing", () => {
  it.each([
    ["a field of another type", '{"label":{"a":1}}', "label: must be a text, a number"],
    ["a body that is no object", '["1-0"]', "body: must be an object"],
    ["a body that is no JSON", "{", "JSON"],
    ["too many ids", JSON.stringify({ dlqIds: Array.from({ length: 101 }, String) }), "dlqIds"],
  ])("400 for %s", async (_, body, text) => {
    const before = await listed("count=100");

    const replies = [
      await client.post("/v2/dlq/retry", {}, body),
      await client.delete("/v2/dlq", body),
    ];

    for (const reply of replies) {
      expect(reply.status).toBe(400);
      expect(reply.error()).toContain(text);
    }
    expect(await listed("count=100")).toEqual(before);
  });

  it.each([
    [{ "Service-Retries": "x" }, 400, "Service-Retries"],
    [{ "Service-Deduplication-Id": "x" }, 400, "Deduplication-Id"],
    [{ "Service-Retries": "1", "Upstash-Method": "PUT" }, 400, "Upstash-Method"],
    [{ "Service-Retries": "1001" }, 412, "quota maxRetries exceeded, current limit: 1000"],
  ])("400 for invalid headers: %j", async (headers, status, text) => {
    const [id = ""] = await failed(`refused-${status}-${Object.keys(headers).join("")}`, 1);

    const reply = await client.post(`/v2/dlq/retry/${id}`, headers);

    expect(reply.status).toBe(status);
    expect(reply.error()).toContain(text);
    expect((await client.get(`/v2/dlq/${id}`)).status).toBe(200);
  });
});
