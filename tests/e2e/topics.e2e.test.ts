/** Tests `/v2/topics`: URL groups, and publishing to them (docs/design/wire#url-groups). */
import { describe, expect, it } from "@jest/globals";
import { eventually, type Reply, isFilled } from "./client.ts";
import { always, silent } from "./destination.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { type Json, listOf, numberOf, objectOf, textOf } from "./json.ts";
import { client, destination, startBeforeTests } from "./suite.ts";

startBeforeTests();

type Endpoint = { readonly url: string; readonly name?: string };
const upsert = (group: string, endpoints: readonly Endpoint[]): Promise<Reply> =>
  client.postJson(`/v2/topics/${group}/endpoints`, { endpoints });
const remove = (group: string, endpoints: readonly Partial<Endpoint>[]): Promise<Reply> =>
  client.delete(`/v2/topics/${group}/endpoints`, JSON.stringify({ endpoints }));
const read = async (group: string): Promise<Json> =>
  (await client.get(`/v2/topics/${group}`)).object();
const endpointsOf = async (group: string): Promise<readonly Json[]> =>
  listOf((await read(group))["endpoints"]);
const at = (path: string): string => destination.url(path);
const publish = async (group: string, headers = {}, body = ""): Promise<readonly Json[]> =>
  listOf((await client.publish(group, headers, body)).json());

describe("POST /v2/topics/{name}/endpoints", () => {
  describe("200", () => {
    it("makes the group, with its endpoints in the given order", async () => {
      const before = Date.now();
      const given = [{ url: at("/b"), name: "b" }, { url: at("/a") }, { url: at("/c"), name: "c" }];

      const reply = await upsert("made", given);

      const group = await read("made");
      expect(reply.status).toBe(200);
      expect(group).toMatchObject({ name: "made", endpoints: given });
      expect(numberOf(group["createdAt"])).toBeGreaterThanOrEqual(before);
      expect(group["updatedAt"]).toBe(group["createdAt"]);
    });

    it("adds at the end, and changes an endpoint in its place, found by name, or by URL without a name", async () => {
      await upsert("upserted", [{ url: at("/1"), name: "one" }, { url: at("/2") }]);

      await upsert("upserted", [
        { url: at("/3"), name: "three" },
        { url: at("/2") },
        { url: at("/1-new"), name: "one" },
      ]);

      expect(await endpointsOf("upserted")).toEqual([
        { url: at("/1-new"), name: "one" },
        { url: at("/2") },
        { url: at("/3"), name: "three" },
      ]);
    });

    it("loses nothing of twenty requests at once", async () => {
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => upsert("at-once", [{ url: at(`/${i}`) }])),
      );

      const urls = (await endpointsOf("at-once")).map(({ url }) => url);
      expect(new Set(urls).size).toBe(20);
    });
  });

  describe("400", () => {
    const url = "http://127.0.0.1:9/";

    it.each(["my%20group", "a%2Fb", "http:", "%C3%A9", "a,b", "x".repeat(129)])(
      "refuses the name %s on every route that has one",
      async (name) => {
        const replies = [
          await upsert(name, [{ url }]),
          await remove(name, [{ url }]),
          await client.get(`/v2/topics/${name}`),
          await client.delete(`/v2/topics/${name}`),
        ];

        for (const reply of replies) {
          expect(reply.status).toBe(400);
          expect(reply.error()).toMatch(/^urlGroupName: letters, digits/);
        }
      },
    );
  });

  describe("412", () => {
    it("refuses the 10,001st endpoint, at once or in a later request", async () => {
      const many = Array.from({ length: 10_001 }, (_, i) => ({ url: `http://127.0.0.1:9/${i}` }));

      const atOnce = await upsert("too-many", many);
      await upsert("nearly", many.slice(1));
      const later = await upsert("nearly", [{ url: at("/one-more") }]);

      expect([atOnce.status, later.status]).toEqual([412, 412]);
      expect(later.error()).toMatch(/^quota maxEndpoints/);
      expect(await endpointsOf("nearly")).toHaveLength(10_000);
    });
  });
});

describe("DELETE /v2/topics/{name}/endpoints", () => {
  it("200 removes by name and by URL, and the group with its last endpoint", async () => {
    await upsert("removed", [{ url: at("/1"), name: "one" }, { url: at("/2") }, { url: at("/3") }]);

    const some = await remove("removed", [
      { name: "one" },
      { url: at("/2") },
      { url: at("/none") },
    ]);
    const left = await endpointsOf("removed");
    const last = await remove("removed", [{ url: at("/3") }]);

    expect([some.status, last.status]).toEqual([200, 200]);
    expect(left).toEqual([{ url: at("/3") }]);
    expect((await client.get("/v2/topics/removed")).status).toBe(404);
  });

  it("404 refuses a group that does not exist", async () => {
    expect((await remove("never-made", [{ name: "x" }])).status).toBe(404);
  });
});

describe("GET /v2/topics", () => {
  it("200 lists all groups of the tenant, also with a slash at the end", async () => {
    await upsert("listed", [{ url: at("/1"), name: "one" }]);

    const plain = await client.get("/v2/topics");
    const slash = await client.get("/v2/topics/");

    const found = plain.list().find(({ name }) => name === "listed");
    expect(found).toEqual(await read("listed"));
    expect(slash.json()).toEqual(plain.json());
  });
});

describe("GET /v2/topics/{name}", () => {
  it("404 names a group that does not exist", async () => {
    const reply = await client.get("/v2/topics/no-such");

    expect(reply.status).toBe(404);
    expect(reply.error()).toBe("topic no-such not found");
  });
});

describe("DELETE /v2/topics/{name}", () => {
  it("200 deletes the group, and succeeds for a missing one", async () => {
    await upsert("deleted", [{ url: at("/1") }]);

    const first = await client.delete("/v2/topics/deleted");
    const second = await client.delete("/v2/topics/deleted");

    expect([first.status, second.status]).toEqual([200, 200]);
    expect((await client.get("/v2/topics/deleted")).status).toBe(404);
  });
});

describe.each(dialects)("a publish to a group in the $prefix dialect", ({ prefix }) => {
  const name = `group-${prefix}1`;
  const header = (suffix: string): string => `${prefix}${suffix}`.toLowerCase();

  it("answers an array in the endpoints' order, and makes one message for each", async () => {
    const endpoints = [{ url: at(`/${name}/b`), name: "b" }, { url: at(`/${name}/a`) }];
    await upsert(name, endpoints);
    const told = at(`/${name}/told`);
    const settings = inDialect(prefix, { Method: "PUT", "Forward-X": "x", Callback: told });

    const published = await publish(name, settings, "shared body");

    expect(published).toEqual(
      endpoints.map(({ url }) => ({ messageId: expect.stringMatching(/^msg_/), url })),
    );
    for (const [i, path] of [`/${name}/b`, `/${name}/a`].entries()) {
      expect(await destination.arrival(path)).toMatchObject({
        method: "PUT",
        body: Buffer.from("shared body"),
        headers: {
          x: "x",
          [header("topic-name")]: name,
          [header("message-id")]: published[i]?.["messageId"],
        },
      });
    }
    const callbacks = await destination.arrivals(`/${name}/told`, 2);
    const bodies = callbacks.map(({ body }) => objectOf(JSON.parse(body.toString())));
    expect(bodies.every(({ topicName }) => topicName === name)).toBe(true);
    expect(bodies.map(({ endpointName }) => endpointName).toSorted()).toEqual(["b", undefined]);
  });

  it("fails for each endpoint by itself", async () => {
    const group = `${name}-half`;
    destination.answers(`/${group}/bad`, always(500));
    await upsert(group, [{ url: at(`/${group}/bad`), name: "bad" }, { url: at(`/${group}/good`) }]);

    const [bad] = await publish(group, inDialect(prefix, { Retries: "0" }));

    await destination.arrival(`/${group}/good`);
    const letters = await lettersOf(group);
    expect(letters).toMatchObject([
      { messageId: bad?.["messageId"], topicName: group, endpointName: "bad" },
    ]);
  });
});

const lettersOf = async (group: string): Promise<readonly Json[]> => {
  return client.until(`/v2/dlq?topicName=${group}`, "messages", isFilled);
};

describe("a publish to a group", () => {
  it("of 10,000 endpoints answers all ids in one array, and each is delivered once", async () => {
    const paths = Array.from({ length: 10_000 }, (_, i) => `/all/${i}`);
    await upsert(
      "all",
      paths.map((path) => ({ url: at(path) })),
    );

    const published = await publish("all", {}, "body");
    const ids = published.map(({ messageId }) => textOf(messageId));
    const last = await client.get(`/v2/messages/${ids[9_999]}`);
    const arrived = (): number => paths.filter((path) => destination.at(path).length > 0).length;
    await destination.until(() => destination.at(paths[9_999] ?? "").length > 0, 120_000);
    await destination.until(
      () => arrived() === 10_000,
      60_000,
      () => `${arrived()} arrived`,
    );

    expect(published.map(({ url }) => url)).toEqual(paths.map(at));
    expect(new Set(ids).size).toBe(10_000);
    expect(last.status).toBe(200);
    const wrong = paths.filter((path, i) => {
      const [arrival, ...more] = destination.at(path);
      return more.length > 0 || arrival?.headers["service-message-id"] !== ids[i];
    });
    expect(wrong).toEqual([]);
  }, 240_000);

  it("makes children that can be read and cancelled before they exist", async () => {
    const paths = Array.from({ length: 2_000 }, (_, i) => `/early/${i}`);
    await upsert(
      "early",
      paths.map((path) => ({ url: at(path) })),
    );

    const published = await publish("early", service({ Delay: "2s" }), "body");
    const [first, middle, last] = [0, 1_000, 1_999].map((i) => textOf(published[i]?.["messageId"]));
    const reads = await Promise.all(
      [first, middle, last].map((id) => client.get(`/v2/messages/${id}`)),
    );
    const canceled = await client.delete(`/v2/messages/${last}`);
    await destination.until(
      () => paths.slice(0, -1).every((path) => destination.at(path).length === 1),
      30_000,
    );

    expect(reads.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(reads[2]?.object()).toMatchObject({
      url: at("/early/1999"),
      topicName: "early",
      body: "body",
    });
    expect(canceled.status).toBe(202);
    await client.published(at("/after-early"), service({ Delay: "1s" }));
    await destination.arrival("/after-early");
    expect(destination.at("/early/1999")).toEqual([]);
  }, 240_000);

  it("reaches the endpoints of its moment: later changes and the group's removal make no difference", async () => {
    const paths = Array.from({ length: 1_200 }, (_, i) => `/version/${i}`);
    await upsert(
      "version",
      paths.map((path) => ({ url: at(path) })),
    );

    await publish("version", service({ Delay: "1s" }));
    await upsert("version", [{ url: at("/too-late") }]);
    await client.delete("/v2/topics/version");

    await destination.until(
      () => paths.every((path) => destination.at(path).length === 1),
      120_000,
    );
    expect(destination.at("/too-late")).toEqual([]);
  }, 240_000);

  it("continues its retries when its group is deleted", async () => {
    destination.answers("/orphan", (arrival, response, nth) => {
      if (nth > 0) response.end();
      else silent(arrival, response, nth);
    });
    await upsert("orphaned", [{ url: at("/orphan") }]);
    const settings = service({ Timeout: "1s", "Retry-Delay": "10" });

    await publish("orphaned", settings, "body");
    await destination.arrival("/orphan");
    await client.delete("/v2/topics/orphaned");

    const [, retry] = await destination.arrivals("/orphan", 2);
    expect(retry?.body.toString()).toBe("body");
  });

  it("lists its children in the log, and has no event of its own", async () => {
    await upsert("logged", [{ url: at("/l/1") }, { url: at("/l/2") }]);

    const ids = (await publish("logged")).map(({ messageId }) => messageId);
    await destination.arrival("/l/1");
    await destination.arrival("/l/2");

    const logged = await eventually(
      async () => {
        const events = await client.listed("/v2/events?topicName=logged", "events");
        return new Set(events.map(({ messageId }) => messageId));
      },
      ({ size }) => size >= ids.length,
    );
    expect(logged).toEqual(new Set(ids));
    const parent = textOf(ids[0]).replace(/_n0$/, "");
    expect((await client.get(`/v2/messages/${parent}`)).status).toBe(404);
    expect((await client.delete(`/v2/messages/${parent}`)).status).toBe(404);
    expect(await client.listed(`/v2/events?messageId=${parent}`, "events")).toEqual([]);
  });
});
