/** Tests deduplication (docs/design/deduplication): a second publish is answered with the first one's id. */
import { describe, expect, it } from "@jest/globals";
import { type Reply } from "./client.ts";
import { always } from "./destination.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { listOf } from "./json.ts";
import { client, destination, nothingElseArrives, startBeforeTests } from "./suite.ts";

startBeforeTests();

const idOf = (reply: Reply): unknown => reply.object()["messageId"];

describe.each(dialects)("an explicit id in the $prefix dialect", ({ prefix }) => {
  const once = (id: string) => inDialect(prefix, { "Deduplication-Id": prefix + id });
  const url = (name: string): string => destination.url(`/${prefix}${name}`);

  it("202 answers a second publish with the first id, and sends nothing", async () => {
    const first = await client.publish(url("one"), once("one"), "first body");
    const second = await client.publish(url("elsewhere"), once("one"), "another body");

    expect(first.status).toBe(200);
    expect(first.object()["deduplicated"]).toBeUndefined();
    expect(second.status).toBe(202);
    expect(second.object()).toMatchObject({ messageId: idOf(first), deduplicated: true });
    await destination.arrival(`/${prefix}one`);
    await nothingElseArrives();
    expect(destination.at(`/${prefix}elsewhere`)).toEqual([]);
  });

  it("makes one message of fifty publishes at once", async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => client.publish(url("fifty"), once("fifty"))),
    );

    const fresh = replies.filter(({ status }) => status === 200);
    expect(new Set(replies.map(idOf)).size).toBe(1);
    expect(fresh).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 202)).toHaveLength(49);
    await nothingElseArrives();
    expect(destination.at(`/${prefix}fifty`)).toHaveLength(1);
  });
});

describe("an explicit id", () => {
  const once = (id: string) => service({ "Deduplication-Id": id });

  it("applies after the first message has failed, and is free again after the first was cancelled", async () => {
    destination.answers("/fails", always(500));
    const settings = { ...once("failed"), ...service({ Retries: "0" }) };
    const failed = await client.publish(destination.url("/fails"), settings);
    await destination.arrival("/fails");
    const canceled = await client.publish(destination.url("/c"), {
      ...once("canceled"),
      ...service({ Delay: "1h" }),
    });
    await client.delete(`/v2/messages/${String(idOf(canceled))}`);

    const afterFailure = await client.publish(destination.url("/fails"), settings);
    const afterCancel = await client.publish(destination.url("/c"), once("canceled"));
    const again = await client.publish(destination.url("/c"), once("canceled"));

    expect(afterFailure.object()).toMatchObject({ messageId: idOf(failed), deduplicated: true });
    expect(afterCancel.status).toBe(200);
    expect(idOf(afterCancel)).not.toBe(idOf(canceled));
    expect(again.object()).toMatchObject({ messageId: idOf(afterCancel), deduplicated: true });
  });

  it("stays free after a refused publish", async () => {
    const refused = await client.publish(destination.url("/r"), {
      ...once("refused"),
      ...service({ Retries: "-1" }),
    });
    const accepted = await client.publish(destination.url("/r"), once("refused"));

    expect(refused.status).toBe(400);
    expect(accepted.status).toBe(200);
  });

  it("may hold any visible characters", async () => {
    const id = `a:b/c,"d" é`.replace("é", "%") + "x".repeat(400);

    const first = await client.publish(destination.url("/odd"), once(id));
    const second = await client.publish(destination.url("/odd"), once(id));

    expect([first.status, second.status]).toEqual([200, 202]);
  });
});

describe("content-based deduplication", () => {
  const on = service({ "Content-Based-Deduplication": "true" });
  const publish = (path: string, body: string, headers: Record<string, string> = {}) =>
    client.publish(destination.url(path), { ...on, ...headers }, body);

  it("answers a publish with the first id when destination, body, Content-Type and forwarded headers are the same", async () => {
    const headers = { "Content-Type": "text/plain", "Service-Forward-X": "1" };

    const first = await publish("/content", "body", headers);
    const second = await publish("/content", "body", { ...headers, "Service-Retries": "7" });

    expect(second.status).toBe(202);
    expect(idOf(second)).toBe(idOf(first));
  });
});

describe("a URL group", () => {
  const upsert = (...paths: readonly string[]) => {
    const endpoints = paths.map((path) => ({ url: destination.url(path) }));
    return client.postJson("/v2/topics/deduplicated/endpoints", { endpoints });
  };
  const publish = async () => {
    const reply = await client.publish("deduplicated", service({ "Deduplication-Id": "group" }));
    return listOf(reply.json());
  };

  it("is deduplicated for each endpoint by itself", async () => {
    await upsert("/g/1", "/g/2");
    const first = await publish();

    await upsert("/g/3");
    const second = await publish();
    const third = await publish();

    expect(first.map(({ deduplicated }) => deduplicated)).toEqual([undefined, undefined]);
    expect(second.map(({ deduplicated }) => deduplicated)).toEqual([true, true, undefined]);
    expect(third.map(({ deduplicated }) => deduplicated)).toEqual([true, true, true]);
    expect(third.map(({ messageId }) => messageId)).toEqual(
      second.map(({ messageId }) => messageId),
    );
    expect(second.slice(0, 2).map(({ messageId }) => messageId)).toEqual(
      first.map(({ messageId }) => messageId),
    );
    for (const path of ["/g/1", "/g/2", "/g/3"]) await destination.arrival(path);
    await nothingElseArrives();
    for (const path of ["/g/1", "/g/2", "/g/3"]) expect(destination.at(path)).toHaveLength(1);
  });
});
