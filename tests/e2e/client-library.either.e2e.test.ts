/** Tests `@posthaste/client` against a server: each resource by its methods, and its receiver as a destination. */
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  createClient,
  createManagement,
  type Client,
  type Management,
  type PosthasteError,
} from "@posthaste/client";
import { createReceiver, NonRetryable, nodeHandler, RetryAfter } from "@posthaste/client/receiver";
import { eventually, hasLength, equals } from "./client.ts";
import { close, listen } from "./loopback.ts";
import { operatorEnv, operatorPassword, operatorUser } from "./operator.ts";
import { developmentToken } from "./server-process.ts";
import { destination, server, startBeforeTests } from "./suite.ts";
import { firstUser, readOnlyToken } from "./users.ts";

let url: string;
let client: Client;

startBeforeTests({ env: operatorEnv, readOnlyToken });

beforeAll(async () => {
  url = `http://127.0.0.1:${server.port}`;
  client = createClient({ url, token: developmentToken });
});
afterAll(async () => {
  client.close();
});

const all = async <T>(elements: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const element of elements) found.push(element);
  return found;
};
async function fail(label: string, count: number, path = `/${label}`): Promise<void> {
  destination.answers(path, (_, response) => response.writeHead(500).end());
  for (let i = 0; i < count; i++)
    await client.publish({ to: destination.url(path), label, retries: 0 });
  await eventually(() => all(client.each("listDeadLetters", { label })), hasLength(count));
}

describe("a message", () => {
  it("arrives as it was published, and its events are listed page by page", async () => {
    const to = destination.url("/hello/..%2f?a=%20&b=/../c");

    const { messageId } = await client.publishJson({
      to: to as `http://${string}`,
      json: { hello: "wörld" },
      label: "hello",
      headers: { "X-Mine": "1" },
    });

    const [arrival] = await destination.arrivals("/hello/..%2f");
    expect(arrival).toMatchObject({
      method: "POST",
      path: "/hello/..%2f?a=%20&b=/../c",
      headers: {
        "content-type": "application/json",
        "x-mine": "1",
        "service-message-id": messageId,
      },
    });
    expect(JSON.parse(String(arrival?.body))).toEqual({ hello: "wörld" });
    const events = await eventually(
      () => all(client.each("listEvents", { messageId, count: 1 })),
      hasLength(3),
    );
    expect(events.map(({ state }) => state)).toEqual(["DELIVERED", "ACTIVE", "CREATED"]);
  });

  it("with a delay is read, delivered early or cancelled", async () => {
    const later = { to: destination.url("/later") as `http://${string}`, delay: "1h" };
    const one = await client.publish(later);
    const other = await client.publish({ ...later, label: "others" });

    expect(await client.messages.read(one.messageId)).toMatchObject({
      messageId: one.messageId,
      url: later.to,
    });
    await client.messages.deliverNow(one.messageId);
    await destination.arrival("/later");
    const query = { label: "others" };
    expect(await client.messages.cancelMany({ query: { ...query, dryRun: true } })).toEqual({
      dryRun: true,
      matched: 1,
    });
    expect(await client.messages.cancelMany({ query })).toMatchObject({ cancelled: 1 });
    await eventually(
      () => client.messages.cancel(other.messageId).catch((error: PosthasteError) => error.code),
      equals("not_found"),
    );
  });

  it("of a batch, of a group and of a queue arrives", async () => {
    const to = destination.url("/many");
    await client.groups.addEndpoints("c-group", { body: { endpoints: [{ url: to }] } });
    await client.queues.upsert({ body: { queueName: "c-queue", parallelism: 3 } });

    await client.batch([
      { to, body: "1" },
      { to: "c-group", json: 2 },
      { to, queue: "c-queue" },
    ]);
    await client.publish({ to: "c-group", body: "4" });
    await client.enqueue({ to, queue: "c-queue", body: "5" });

    const arrivals = await destination.arrivals("/many", 5);
    expect(arrivals.map(({ body }) => String(body)).toSorted()).toEqual(["", "1", "2", "4", "5"]);
    expect(await client.queues.read("c-queue")).toMatchObject({ parallelism: 3, paused: false });
    expect(await client.groups.read("c-group")).toMatchObject({ endpoints: [{ url: to }] });
    await client.groups.remove("c-group");
    await client.queues.remove("c-queue");
  });
});

describe("dead letters", () => {
  it("are retried and removed by a filter, in as many calls as that takes", async () => {
    await fail("c-dead", 3);
    destination.answers("/c-dead", (_, response) => response.end());
    const asked = { query: { label: "c-dead", count: 1 } };

    const retried = await all(client.pages("retryDeadLetters", asked));
    await destination.arrivals("/c-dead", 6);
    await fail("c-gone", 2);
    const removed = await all(
      client.pages("removeDeadLetters", { query: { label: "c-gone", count: 1 } }),
    );

    expect(retried.flatMap((page) => ("responses" in page ? page.responses : []))).toHaveLength(3);
    const deleted = removed.map((page) => ("deleted" in page ? page.deleted : 0));
    expect(deleted.reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(await all(client.each("listDeadLetters", { label: "c-gone" }))).toEqual([]);
  });
});

describe("a client with a token", () => {
  it("that may only read gets forbidden for a write", async () => {
    const reader = createClient({ url, token: readOnlyToken });

    expect(await reader.queues.list()).toEqual(expect.any(Array));
    await expect(reader.queues.pause("q")).rejects.toMatchObject({
      code: "forbidden",
      status: 403,
    });
    reader.close();
  });

  it("that is unknown gets unauthorized", async () => {
    const stranger = createClient({ url, token: "wrong" });

    await expect(stranger.queues.list()).rejects.toMatchObject({
      code: "unauthorized",
      status: 401,
    });
    stranger.close();
  });

  it("that is full reads the keys that sign deliveries", async () => {
    expect(await client.keys.read()).toEqual(firstUser.keys);
  });
});

describe("a receiver", () => {
  const handled: string[] = [];
  let receiving: Server;
  let to: `http://${string}`;
  beforeAll(async () => {
    const receiver = createReceiver(
      ({ text, retried }) => {
        handled.push(`${text()} ${retried}`);
        if (text() === "in vain") throw new NonRetryable("no such order");
        if (text() === "later" && retried === 0) throw new RetryAfter(0);
      },
      { keys: () => client.keys.read() },
    );
    receiving = createServer(nodeHandler(receiver));
    to = `http://127.0.0.1:${await listen(receiving)}/in`;
  });
  afterAll(() => close(receiving));
  const outcomeOf = async (body: string) => {
    const { messageId } = await client.publish({ to, body, retries: 3 });
    const ends = await eventually(
      () => all(client.each("listEvents", { messageId, state: ["DELIVERED", "FAILED"] })),
      hasLength(1),
    );
    return ends[0]?.state;
  };

  it("accepts the server's signatures", async () => {
    expect(await outcomeOf("well")).toBe("DELIVERED");
    expect(handled).toContain("well 0");
  });

  it("has a message retried at the time that its error names", async () => {
    expect(await outcomeOf("later")).toBe("DELIVERED");
    expect(handled.filter((each) => each.startsWith("later"))).toEqual(["later 0", "later 1"]);
  });

  it("ends a message without further retries when its error says so", async () => {
    expect(await outcomeOf("in vain")).toBe("FAILED");
    expect(handled.filter((each) => each.startsWith("in vain"))).toEqual(["in vain 0"]);
    expect(await all(client.each("listDeadLetters", { url: to }))).toMatchObject([
      { responseStatus: 489, responseBody: "no such order" },
    ]);
  });
});

describe("the operator", () => {
  let management: Management;
  beforeAll(() => {
    const managementUrl = `http://127.0.0.1:${server.managementPort}`;
    management = createManagement({
      url: managementUrl,
      user: operatorUser,
      password: operatorPassword,
    });
  });
  afterAll(() => management.close());

  it("shows the server's error text", async () => {
    const id = "not a name";

    await expect(management.tenants.create({ body: { id } })).rejects.toMatchObject({
      code: "malformed",
      status: 400,
      message: "id: must be 1 to 64 letters, digits, '-' and '_'",
    });
  });
});
