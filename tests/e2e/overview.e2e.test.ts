/** Tests `GET /v2/counts` and `GET /v2/overview`: the totals of a tenant's messages. */
import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { Client, eventually } from "./client.ts";
import { always } from "./destination.ts";
import { service } from "./dialects.ts";
import { type Json, numberOf, objectOf } from "./json.ts";
import { readOnlyToken, users } from "./users.ts";
import { destination, server, startBeforeTests } from "./suite.ts";

startBeforeTests({ readOnlyToken });

beforeAll(async () => {
  destination.answers("/fails", always(500, "the answer"));
});

const [, second, third] = users;
const of = (token: string | undefined) => new Client(server.port, token);

const publish = (client: Client, path: string, settings = {}): Promise<string> =>
  client.published(destination.url(path), service(settings));

const sumsOf = (minutes: readonly Json[]): Json => {
  const sums: Record<string, number> = {};
  for (const { counts } of minutes)
    for (const [state, n] of Object.entries(objectOf(counts)))
      sums[state] = (sums[state] ?? 0) + numberOf(n);
  return sums;
};

describe("GET /v2/counts", () => {
  it("200 has each event of the tenant counted once, in its minute", async () => {
    const client = of(second.token);
    const from = Date.now();
    await Promise.all([
      ...Array.from({ length: 20 }, () => publish(client, "/ok")),
      ...Array.from({ length: 5 }, () => publish(client, "/fails", { Retries: "0" })),
      publish(client, "/fails", { Retries: "1", "Retry-Delay": "1" }),
    ]);
    const cancelled = await publish(client, "/ok", { Delay: "1h" });
    await client.delete(`/v2/messages/${cancelled}`);
    const expected = {
      CREATED: 27,
      ACTIVE: 27,
      DELIVERED: 20,
      ERROR: 7,
      RETRY: 1,
      FAILED: 6,
      CANCEL_REQUESTED: 1,
      CANCELED: 1,
    };

    const counted = await eventually(
      () => client.get("/v2/counts"),
      (reply) => isDeepStrictEqual(sumsOf(reply.list("minutes")), expected),
    );
    const events = await client.get("/v2/events?trimBody=0&order=earliestFirst");

    const minutes = new Set(
      events.list("events").map(({ time }) => Math.floor(numberOf(time) / 60_000)),
    );
    expect(counted.list("minutes").map(({ time }) => numberOf(time) / 60_000)).toEqual([
      ...minutes,
    ]);
    const before = await client.get(`/v2/counts?toDate=${from - 60_000}`);
    expect(before.list("minutes")).toEqual([]);
  });

  it("200 is empty for a tenant without messages", async () => {
    expect((await of(third.token).get("/v2/counts")).object()).toEqual({ minutes: [] });
  });
});

describe("GET /v2/overview", () => {
  it("200 returns the present totals: backlog, oldest due message, dead letters", async () => {
    const client = server.client;
    expect((await client.get("/v2/overview")).object()).toEqual({
      time: expect.any(Number),
      backlog: 0,
      deadLetters: 0,
    });

    await publish(client, "/fails", { Retries: "0" });
    await publish(client, "/ok", { Delay: "1h" });
    const overview = await eventually(
      () => of(readOnlyToken).get("/v2/overview"),
      (reply) => reply.object()["deadLetters"] === 1 && reply.object()["backlog"] === 1,
    );

    expect(Math.abs(numberOf(overview.object()["time"]) - Date.now())).toBeLessThan(60_000);
  });
});
