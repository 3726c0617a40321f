/** Tests `GET /v2/events` with `wait`: the log as it is written (docs/design/wire#following-the-log). */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { Client, eventually, type Reply, hasStatus } from "./client.ts";
import { always } from "./destination.ts";
import { service } from "./dialects.ts";
import { type Json, numberOf, textOf } from "./json.ts";
import { Operator, operatorEnv } from "./operator.ts";
import { readOnlyToken } from "./users.ts";
import { client, destination, other, server, startBeforeTests } from "./suite.ts";

const patienceMs = 60_000;

startBeforeTests({ env: operatorEnv, readOnlyToken });

beforeAll(async () => {
  destination.answers("/fails", always(500, "the answer"));
});

/** Calls again and again, each time with the last cursor. */
class Follower {
  readonly events: Json[] = [];
  readonly #client: Client;
  readonly #query: string;
  #cursor = "";

  constructor(query: string, by = client) {
    this.#client = by;
    this.#query = query;
  }

  async next(waitSeconds: number): Promise<Reply> {
    const cursor = this.#cursor === "" ? "" : `&cursor=${this.#cursor}`;
    const path = `/v2/events?wait=${waitSeconds}&${this.#query}${cursor}`;
    const ask = () => this.#client.get(path);
    // A busy host refuses lists first.
    const reply = await eventually(ask, ({ status }) => status !== 503);
    if (reply.status !== 200) throw new Error(reply.text);
    this.#cursor = textOf(reply.object()["cursor"]);
    this.events.push(...reply.list("events"));
    return reply;
  }

  /** Returns `count` events, each once: an event may come again. `keyOf` identifies an event. */
  async until(count: number, keyOf = byTime): Promise<readonly Json[]> {
    const known = () => new Map(this.events.map((event) => [keyOf(event), event]));
    const until = Date.now() + patienceMs;
    while (known().size < count) {
      if (Date.now() > until) throw new Error(`${known().size} of ${count} events`);
      await this.next(20);
    }
    return [...known().values()];
  }
}

const byState = ({ messageId, state }: Json): string => `${textOf(messageId)} ${textOf(state)}`;
const byTime = (event: Json): string => `${byState(event)} ${numberOf(event["time"])}`;
const publish = (path: string, label: string, settings = {}, by = client): Promise<string> =>
  by.published(destination.url(path), service({ Label: label, ...settings }), "the body");

describe("GET /v2/events with wait", () => {
  it("answers at once with the cursor to follow from, and later with events", async () => {
    await publish("/ok", "live");
    await eventually(
      () => client.get("/v2/events?label=live&state=DELIVERED"),
      (reply) => reply.list("events").length === 1,
    );
    const follower = new Follower("label=live");

    const begun = await follower.next(60);
    expect(begun.list("events")).toEqual([]);
    const waiting = follower.next(60);
    const id = await publish("/ok", "live");
    await waiting;
    const events = await follower.until(3);

    expect(events.map(({ messageId }) => messageId)).toEqual([id, id, id]);
    expect(events.map(({ state }) => state).toSorted()).toEqual(["ACTIVE", "CREATED", "DELIVERED"]);
    expect(events[0]).toMatchObject({ url: destination.url("/ok"), label: "live" });
  });

  it("begins at fromDate, and continues page by page to new events", async () => {
    const first = await publish("/ok", "history");
    const listed = await eventually(
      () => client.get("/v2/events?label=history&order=earliestFirst"),
      (reply) => reply.list("events").length === 3,
    );
    const from = numberOf(listed.list("events")[0]?.["time"]);
    const follower = new Follower(`label=history&count=2&fromDate=${from}`);

    expect((await follower.next(60)).list("events")).toHaveLength(2);
    await follower.until(3);
    const second = await publish("/ok", "history");
    const events = await follower.until(6);

    const states = ["CREATED", "ACTIVE", "DELIVERED"];
    for (const id of [first, second])
      expect(
        new Set(events.filter((each) => each["messageId"] === id).map(({ state }) => state)),
      ).toEqual(new Set(states));
  });

  it("takes filters, and continues to wait when only other events happen", async () => {
    const follower = new Follower("state=FAILED&label=filtered");
    await follower.next(60);

    const waiting = follower.next(60);
    await publish("/ok", "filtered");
    await publish("/fails", "others", { Retries: "0" });
    const failed = await publish("/fails", "filtered", { Retries: "0" });
    await waiting;

    expect(follower.events).toEqual([
      expect.objectContaining({ messageId: failed, state: "FAILED" }),
    ]);
  });

  it("returns each of many events that happen while it reads", async () => {
    const follower = new Follower("label=many&trimBody=0&count=100");
    await follower.next(60);
    const published = Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        publish(n % 10 === 0 ? "/fails" : "/ok", "many", { Retries: "0" }),
      ),
    );

    // Each failure adds an event, and so does a call that a busy host cut short and that begins again.
    const events = await follower.until(200 * 3 + 20, byState);
    const ids = new Set(await published);

    expect(events).toHaveLength(620);
    expect(new Set(events.map(({ messageId }) => messageId))).toEqual(ids);
  });

  it("ends after the given time with an empty page and the cursor to continue with", async () => {
    const follower = new Follower("label=none-has-it");
    await follower.next(1);

    const reply = await follower.next(1);

    expect(reply.object()).toEqual({ cursor: expect.stringMatching(/^[\w-]+$/), events: [] });
  });

  it("is allowed to a token that may only read, and returns the events of its own tenant alone", async () => {
    const own = new Follower("label=isolated", new Client(server.port, readOnlyToken));
    const foreign = new Follower("label=isolated", other);
    await own.next(60);
    await foreign.next(60);

    const id = await publish("/ok", "isolated");
    const events = await own.until(3);

    expect(new Set(events.map(({ messageId }) => messageId))).toEqual(new Set([id]));
    expect((await foreign.next(1)).list("events")).toEqual([]);
  });

  it("counts as one list of a second, however long it waits", async () => {
    const operator = new Operator(server);
    const limited = await operator.tenant("one-list", { plan: { listsPerSecondMax: 1 } });
    const follower = new Follower("label=limited", limited);
    // A second of the server's limit may end between two calls.
    const begun = () => follower.next(60).catch(() => undefined);
    await eventually(begun, (reply) => reply !== undefined);
    const waiting = eventually(
      () => follower.next(3).catch(() => undefined),
      (reply) => reply !== undefined,
    );
    const listed = await eventually(() => limited.get("/v2/events?label=limited"), hasStatus(200));

    expect(listed.list("events")).toEqual([]);
    expect((await waiting)?.list("events")).toEqual([]);
  });

  it.each([
    ["wait=0", "wait: must be an integer from 1 to 60"],
    ["wait=61", "wait: must be an integer from 1 to 60"],
    ["wait=soon", "wait: must be an integer from 1 to 60"],
    ["wait=1&wait=2", "wait: must be given once"],
    ["wait=5&order=latestFirst", "order: must be earliestFirst with wait"],
    ["wait=5&toDate=1", "toDate: cannot be given with wait"],
    ["wait=5&cursor=bogus", "cursor: not a cursor of this list, or older than an hour"],
  ])("400 %s", async (query, text) => {
    const reply = await client.get(`/v2/events?${query}`);

    expect([reply.status, reply.error()]).toEqual([400, text]);
  });

  it("400 for a cursor of another list or of another filter", async () => {
    await publish("/ok", "cursors");
    const listed = await eventually(
      () => client.get("/v2/events?label=cursors&count=1"),
      (reply) => reply.object()["cursor"] !== undefined,
    );
    const cursor = textOf(listed.object()["cursor"]);
    const followed = textOf(
      (await client.get("/v2/events?wait=1&label=cursors")).object()["cursor"],
    );

    for (const query of [`wait=1&label=cursors&cursor=${cursor}`, `wait=1&cursor=${followed}`])
      expect((await client.get(`/v2/events?${query}`)).status).toBe(400);
  });

  it("400 for wait on any other list", async () => {
    expect((await client.get("/v2/logs?wait=5")).status).toBe(400);
  });
});
