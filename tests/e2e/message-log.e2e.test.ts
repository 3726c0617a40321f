/** Tests `/v2/events` and `/v2/logs`: the message log (docs/design/wire#the-message-log). */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { eventually, type Reply, hasLength } from "./client.ts";
import { always, failing } from "./destination.ts";
import { service } from "./dialects.ts";
import { type Json, listOf, numberOf, textOf } from "./json.ts";
import { client, destination, startBeforeTests } from "./suite.ts";

startBeforeTests();

beforeAll(async () => {
  destination.answers("/fails", always(500, "the answer"));
});

const events = async (query: string, by = client): Promise<readonly Json[]> =>
  await by.listed(`/v2/events?${query}`, "events");
const until = (query: string, count: number): Promise<readonly Json[]> =>
  eventually(() => events(query), hasLength(count), 20_000);
const publish = (path: string, label: string, settings = {}, by = client): Promise<string> =>
  by.published(destination.url(path), service({ Label: label, ...settings }), "the body");

async function allPages(
  query: string,
  { path = "/v2/events", key = "events" } = {},
  meanwhile?: () => Promise<unknown>,
): Promise<readonly (readonly Json[])[]> {
  const pages: (readonly Json[])[] = [];
  let cursor: unknown;
  do {
    const next = cursor === undefined ? "" : `&cursor=${encodeURIComponent(textOf(cursor))}`;
    const reply: Reply = await client.get(`${path}?${query}${next}`);
    pages.push(reply.list(key));
    cursor = reply.object()["cursor"];
    await meanwhile?.();
  } while (cursor !== undefined);
  return pages;
}

const keyOf = ({ messageId, state, time }: Json): string =>
  JSON.stringify([messageId, state, time]);

describe("GET /v2/events", () => {
  describe("200", () => {
    it("has four events for each of a hundred failures, newest first, on one page", async () => {
      await Promise.all(
        Array.from({ length: 100 }, () => publish("/fails", "hundred", { Retries: "0" })),
      );

      const all = await until("label=hundred", 400);

      const times = all.map(({ time }) => numberOf(time));
      expect(times).toEqual(times.toSorted((a, b) => b - a));
      const states = new Map<unknown, unknown[]>();
      for (const { messageId, state } of all) {
        states.set(messageId, [state, ...(states.get(messageId) ?? [])]);
      }
      expect(states.size).toBe(100);
      expect([...states.values()].map(String)).toEqual(
        Array<string>(100).fill("CREATED,ACTIVE,ERROR,FAILED"),
      );
    });

    it("goes to the end in small pages without gap or repeat, in both orders", async () => {
      const [whole] = await allPages("label=hundred");

      const latest = await allPages("label=hundred&count=33");
      const earliest = await allPages("label=hundred&count=33&order=earliestFirst");

      expect(latest.slice(0, -1).every(({ length }) => length === 33)).toBe(true);
      expect(latest.flat().map(keyOf)).toEqual(whole?.map(keyOf));
      expect(earliest.flat().map(keyOf)).toEqual(whole?.map(keyOf).toReversed());
    });

    it("lists everything that was there at its first page while new events arrive", async () => {
      await Promise.all(Array.from({ length: 40 }, () => publish("/ok", "growing")));
      const before = (await until("label=growing", 120)).map(keyOf);

      const pages = await allPages("label=growing&count=10", {}, () => publish("/ok", "growing"));

      const listed = pages.flat().map(keyOf);
      expect(new Set(listed).size).toBe(listed.length);
      expect(before.filter((key) => !listed.includes(key))).toEqual([]);
    });

    it("has no cursor on the last page, even if that is exactly full", async () => {
      await publish("/ok", "exact");
      await until("label=exact", 3);

      const full = await client.get("/v2/events?label=exact&count=3");
      const short = await client.get("/v2/events?label=exact&count=2");

      expect(full.object()).not.toHaveProperty("cursor");
      expect(short.object()["cursor"]).toMatch(/^[\w-]+$/);
    });

    it("has the answer of an error, and the due time of a retry", async () => {
      destination.answers("/twice", failing(1, 503));

      await publish("/twice", "twice", { "Retry-Delay": "50" });

      const all = await until("label=twice", 6);
      const [created, active, error, retry, again, delivered] = all.toReversed();
      expect(
        [created, active, error, retry, again, delivered].map((event) => event?.["state"]),
      ).toEqual(["CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "DELIVERED"]);
      expect(error).toMatchObject({
        responseStatus: 503,
        maxRetries: 3,
        url: destination.url("/twice"),
      });
      expect(numberOf(retry?.["nextDeliveryTime"]) - numberOf(retry?.["time"])).toBe(50);
      expect(delivered).not.toHaveProperty("responseStatus");
      expect([error, delivered]).toMatchObject([{ answerStatus: 503 }, { answerStatus: 200 }]);
      expect(delivered).toMatchObject({ retryDelayExpression: "50", retryDelayExpr: "50" });
    });

    it("shows bodies in base64, cut at trimBody, and none at 0 or -1", async () => {
      await publish("/fails", "bodies", { Retries: "0" });
      await until("label=bodies", 4);
      const bodies = async (trimBody: string) => {
        const [error] = await events(`label=bodies&state=ERROR${trimBody}`);
        return { body: error?.["body"], responseBody: error?.["responseBody"] };
      };
      const base64 = (text: string): string => Buffer.from(text).toString("base64");

      expect(await bodies("&trimBody=1000")).toEqual({
        body: base64("the body"),
        responseBody: base64("the answer"),
      });
      expect(await bodies("&trimBody=4")).toEqual({
        body: base64("the "),
        responseBody: base64("the "),
      });
      expect(await bodies("&trimBody=0")).toEqual({});
      expect(await bodies("&trimBody=-1")).toEqual({});
    });
  });
});

describe("GET /v2/logs", () => {
  it("200 answers the same events under both field names that clients read", async () => {
    const reply = await client.get("/v2/logs?label=exact");

    expect(reply.list("logs")).toEqual(await events("label=exact"));
    expect(reply.list("events")).toEqual(reply.list("logs"));
  });

  it("200 groups by message, ten to a page, each once with all its events", async () => {
    const options = { path: "/v2/logs", key: "messages" };

    const pages = await allPages("label=hundred&groupBy=messageId", options);

    const messages = pages.flat();
    expect(pages.every(({ length }) => length <= 10)).toBe(true);
    expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(100);
    expect(messages).toHaveLength(100);
    for (const { messageId, events: own } of messages) {
      expect(listOf(own).map((event) => event["state"])).toEqual([
        "FAILED",
        "ERROR",
        "ACTIVE",
        "CREATED",
      ]);
      expect(listOf(own).every((event) => event["messageId"] === messageId)).toBe(true);
    }
  });
});

describe("a cursor of GET /v2/events", () => {
  it("400 for a cursor that was changed at any place", async () => {
    const reply = await client.get("/v2/events?label=hundred&count=1");
    const cursor = textOf(reply.object()["cursor"]);
    const changed = [...cursor].map(
      (letter, i) => cursor.slice(0, i) + (letter === "A" ? "B" : "A") + cursor.slice(i + 1),
    );

    const replies = await Promise.all(
      changed.map((text) =>
        // More lists than a tenant may ask for in a second, which the last test of this file covers.
        eventually(
          () => client.get(`/v2/events?label=hundred&count=1&cursor=${text}`),
          ({ status }) => status !== 429,
        ),
      ),
    );

    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([400]));
  });
});
