/** Tests `/v2/enqueue` and `/v2/queues`: FIFO queues (docs/design/queues). */
import { describe, expect, it } from "@jest/globals";
import { eventually, hasLength } from "./client.ts";
import { type Arrival } from "./destination.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { numberOf, textOf } from "./json.ts";
import { client, destination, startBeforeTests } from "./suite.ts";

startBeforeTests();

const put = (queueName: string, settings: object = {}) =>
  client.postJson("/v2/queues", { queueName, ...settings });

async function enqueue(
  queue: string,
  path: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const reply = await client.post(
    `/v2/enqueue/${queue}/${destination.url(path)}`,
    service(headers),
    body,
  );
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
  return textOf(reply.object()["messageId"]);
}

const bodies = (arrivals: readonly Arrival[]): readonly string[] =>
  arrivals.map(({ body }) => body.toString());
const read = async (name: string) => (await client.get(`/v2/queues/${name}`)).object();

/** Waits for a later message without a queue; by then the effects of earlier events have happened. */
async function aWhile(path: string): Promise<void> {
  await client.published(destination.url(path));
  await destination.arrival(path);
}

function holding(path: string): { readonly running: () => number; readonly release: () => void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let running = 0;
  destination.answers(path, (_, response) => {
    running += 1;
    void released.then(() => {
      running -= 1;
      response.end("ok");
    });
  });
  return { running: () => running, release: () => release() };
}

describe("messages of a queue", () => {
  it.each(dialects)(
    "are delivered in the order in which they were accepted, one at a time ($prefix)",
    async ({ prefix }) => {
      const path = `/order/${prefix}`;
      let running = 0;
      let runningMax = 0;
      destination.answers(path, (_, response) => {
        runningMax = Math.max(runningMax, (running += 1));
        setImmediate(() => {
          running -= 1;
          response.end("ok");
        });
      });
      const sent = Array.from({ length: 40 }, (_, n) => String(n));
      for (const body of sent) {
        const reply = await client.post(
          `/v2/enqueue/order-${prefix}/${destination.url(path)}`,
          inDialect(prefix, { Retries: "0" }),
          body,
        );
        expect(reply.status).toBe(200);
      }

      expect(bodies(await destination.arrivals(path, sent.length))).toEqual(sent);
      expect(runningMax).toBe(1);
    },
  );

  it("wait until the callback of the one before has ended", async () => {
    const callback = holding("/called-back");
    await enqueue("calling", "/calls-back", "first", {
      Callback: destination.url("/called-back"),
    });
    await enqueue("calling", "/calls-back", "second");
    await destination.arrival("/called-back");
    await aWhile("/beside-a-callback");
    expect(bodies(destination.at("/calls-back"))).toEqual(["first"]);

    callback.release();

    expect(bodies(await destination.arrivals("/calls-back", 2))).toEqual(["first", "second"]);
  });

  it("continue when one of them has used its retries", async () => {
    destination.answers("/dead", (_, response, nth) => {
      response.writeHead(nth === 0 ? 500 : 200).end();
    });
    await enqueue("dying", "/dead", "first", { Retries: "0" });
    await enqueue("dying", "/dead", "second");

    expect(bodies(await destination.arrivals("/dead", 2))).toEqual(["first", "second"]);
  });

  it("run as many at once as the queue's parallelism", async () => {
    await put("wide", { parallelism: 3 });
    const calls = holding("/wide");
    for (let n = 0; n < 8; n++) await enqueue("wide", "/wide", String(n));
    await destination.arrivals("/wide", 3);
    await aWhile("/beside-the-wide");
    expect(calls.running()).toBe(3);

    calls.release();

    await destination.arrivals("/wide", 8);
  });

  it("are enqueued by a header of a publish, too", async () => {
    await put("by-header", { paused: true });
    const id = await client.published(
      destination.url("/by-header"),
      service({ "Queue-Name": "by-header" }),
    );

    expect((await client.get(`/v2/messages/${id}`)).object()).toMatchObject({
      queueName: "by-header",
    });
    expect(await read("by-header")).toMatchObject({ lag: 1 });
    await client.delete("/v2/queues/by-header");
  });

  it.each([
    ["enqueue", () => client.post("/v2/enqueue/of-groups/g", {}, "body")],
    ["publish", () => client.post("/v2/publish/g", service({ "Queue-Name": "of-groups" }), "body")],
    [
      "batch",
      () => {
        const item = { destination: "g", queue: "of-groups", body: "body" };
        return client.postJson("/v2/batch", [item]);
      },
    ],
  ])(
    "of a URL group (%s) come in the order of its endpoints, before later messages",
    async (way, publish) => {
      const paths = [0, 1, 2, 3].map((n) => `/group-${way}/${n}`);
      const last = `/group-${way}/after`;
      const order: string[] = [];
      for (const path of [...paths, last])
        destination.answers(path, (_, response) => {
          order.push(path);
          response.end("ok");
        });
      const endpoints = paths.map((path) => ({ url: destination.url(path) }));
      await client.postJson("/v2/topics/g/endpoints", { endpoints });

      expect((await publish()).status).toBe(200);
      await enqueue("of-groups", last, "body");

      await destination.arrival(last);
      expect(order).toEqual([...paths, last]);
      expect(destination.at(paths[0] ?? "")[0]?.body.toString()).toBe("body");
      await client.delete("/v2/topics/g");
    },
  );

  it("continue once the aborted call of a cancelled message has ended", async () => {
    const calls = holding("/cut-short");
    const first = await enqueue("cutting", "/cut-short", "first");
    await enqueue("cutting", "/not-cut-short", "second");
    await destination.arrival("/cut-short");

    expect((await client.delete(`/v2/messages/${first}`)).status).toBe(202);

    await destination.arrival("/not-cut-short");
    calls.release();
  });
});

describe("a queue", () => {
  it("is made, read, listed, changed and deleted", async () => {
    expect((await put("settings", { parallelism: 2, paused: true })).status).toBe(200);
    const made = await read("settings");
    expect(made).toMatchObject({ name: "settings", parallelism: 2, paused: true, lag: 0 });
    expect(numberOf(made["updatedAt"])).toBeGreaterThanOrEqual(numberOf(made["createdAt"]));

    for (const change of [{}, { parallelism: 3 }, { paused: null }])
      expect((await put("settings", change)).status).toBe(200);
    expect(await read("settings")).toMatchObject({ parallelism: 3, paused: true });
    expect((await put("settings", { paused: false })).status).toBe(200);

    expect(await read("settings")).toMatchObject({ parallelism: 3, paused: false });
    const names = (await client.get("/v2/queues")).list().map(({ name }) => textOf(name));
    expect(names).toContain("settings");
    expect(names).toEqual(names.toSorted());
    expect((await client.delete("/v2/queues/settings")).status).toBe(200);
    expect((await client.delete("/v2/queues/settings")).status).toBe(200);
    expect((await client.get("/v2/queues/settings")).status).toBe(404);
  });

  it("delivers nothing while it is paused, and all its messages once it is resumed", async () => {
    expect((await client.post("/v2/queues/pausing/pause")).status).toBe(200);
    for (const body of ["a", "b", "c"]) await enqueue("pausing", "/paused", body);
    await aWhile("/beside-the-paused");
    expect(destination.at("/paused")).toEqual([]);
    expect(await read("pausing")).toMatchObject({ paused: true, lag: 3 });

    expect((await client.post("/v2/queues/pausing/resume")).status).toBe(200);

    expect(bodies(await destination.arrivals("/paused", 3))).toEqual(["a", "b", "c"]);
    await eventually(
      () => read("pausing"),
      ({ lag }) => lag === 0,
    );
  });

  it("is deleted with its messages, and is made anew without them", async () => {
    await put("deleting", { paused: true });
    const ids = await Promise.all(
      ["a", "b", "c"].map((body) => enqueue("deleting", "/deleted", body)),
    );

    expect((await client.delete("/v2/queues/deleting")).status).toBe(200);

    await enqueue("deleting", "/after-the-deletion", "d");
    await destination.arrival("/after-the-deletion");
    for (const id of ids)
      await client.until(`/v2/events?messageId=${id}&state=CANCELED`, "events", hasLength(1));
    expect(destination.at("/deleted")).toEqual([]);
  });

  it("counts the messages that its deletion would cancel, and cancels nothing", async () => {
    await put("kept", { paused: true });
    await enqueue("kept", "/kept", "one");

    const told = await client.delete("/v2/queues/kept?dryRun=true");
    const refused = await client.delete("/v2/queues/kept?dryrun=true");

    expect([told.status, told.json()]).toEqual([200, { dryRun: true, matched: 1 }]);
    expect([refused.status, (await read("kept"))["lag"]]).toEqual([400, 1]);
    expect((await client.delete("/v2/queues/kept")).text).toBe("");
  });
});

describe("400", () => {
  it.each([
    ["no name", {}, "queueName: must be a string"],
    ["a bad name", { queueName: "a/b" }, "queueName: letters, digits"],
    ["a parallelism of none", { queueName: "q", parallelism: 0 }, "parallelism: must be at least"],
    ["half a parallelism", { queueName: "q", parallelism: 1.5 }, "parallelism: must be a whole"],
    ["a pause that is none", { queueName: "q", paused: "yes" }, "paused: must be true or false"],
  ])("for %s", async (_, body, text) => {
    const reply = await client.postJson("/v2/queues", body);

    expect(reply.status).toBe(400);
    expect(reply.error()).toContain(text);
  });

  it.each(["/v2/queues/a%2Fb", "/v2/queues/%20"])("for the name in %s", async (path) => {
    expect((await client.get(path)).status).toBe(400);
    expect((await client.delete(path)).status).toBe(400);
    expect((await client.post(`${path}/pause`)).status).toBe(400);
  });

  it("for an invalid name in an enqueue, in its target or in a header", async () => {
    const url = destination.url("/never");

    expect((await client.post(`/v2/enqueue/a%2Fb/${url}`)).error()).toContain("queueName: ");
    const named = await client.publish(url, service({ "Queue-Name": "a b" }));
    expect(named.status).toBe(400);
    expect(named.error()).toContain("Service-Queue-Name: ");
  });

  it("for a message with two queues", async () => {
    const reply = await client.post(
      `/v2/enqueue/one/${destination.url("/never")}`,
      service({ "Queue-Name": "two" }),
    );

    expect(reply.status).toBe(400);
    expect(reply.error()).toContain("Service-Queue-Name: the target names the queue one");
  });
});

describe("412", () => {
  it("for more parallelism than the plan has", async () => {
    const reply = await put("too-wide", { parallelism: 1_001 });

    expect(reply.status).toBe(412);
    expect(reply.error()).toBe("quota maxParallelism exceeded, current limit: 1000");
    expect((await client.get("/v2/queues/too-wide")).status).toBe(404);
  });
});
