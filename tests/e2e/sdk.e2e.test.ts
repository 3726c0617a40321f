import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { bareEnv } from "@posthaste/testing/bare-env";
import { Client as Qstash, Receiver } from "@upstash/qstash";
import { eventually } from "./client.ts";
import { developmentToken } from "./server-process.ts";
import { firstUser } from "./users.ts";
import { destination, server, startBeforeTests } from "./suite.ts";

startBeforeTests();

let qstash: Qstash;

beforeAll(async () => {
  qstash = new Qstash({
    baseUrl: `http://127.0.0.1:${server.port}`,
    token: developmentToken,
    enableTelemetry: true,
  });
});

const receiver = new Receiver({
  currentSigningKey: firstUser.keys.current,
  nextSigningKey: firstUser.keys.next,
});

describe("the client", () => {
  it("publishes JSON that arrives with its headers, in the Upstash dialect, and the receiver verifies it", async () => {
    const url = destination.url("/json?x=1");
    const { messageId } = await qstash.publishJSON({
      url,
      body: { hello: "world" },
      headers: { "My-Header": "a, b" },
    });

    const arrival = await destination.arrival("/json");
    expect(arrival.path).toBe("/json?x=1");
    expect(arrival.method).toBe("POST");
    expect(arrival.headers).toMatchObject({
      "content-type": "application/json",
      "my-header": "a, b",
      "user-agent": "Upstash-QStash",
      "upstash-message-id": messageId,
      "upstash-retried": "0",
    });
    const verified = receiver.verify({
      signature: String(arrival.headers["upstash-signature"]),
      body: arrival.body.toString(),
      url,
    });
    await expect(verified).resolves.toBe(true);
  });

  it("reads a message right after publishing it, and cancels a delayed one", async () => {
    const { messageId } = await qstash.publish({
      url: destination.url("/later"),
      body: "later",
      delay: 600,
      retries: 5,
    });

    const message = await qstash.messages.get(messageId);
    expect(message).toMatchObject({
      messageId,
      url: destination.url("/later"),
      method: "POST",
      maxRetries: 5,
      body: "later",
    });
    await qstash.messages.cancel(messageId);
    const events = await eventually(
      async () => (await qstash.logs({ filter: { messageId } })).logs,
      (logs) => logs.some(({ state }) => state === "CANCELED"),
    );
    expect(events.map(({ state }) => state)).toContain("CREATED");
    expect(destination.at("/later")).toEqual([]);
  });

  it("cancels messages by ids, by a filter, and all", async () => {
    const later = { url: destination.url("/many"), body: "later", delay: 600 };
    const publish = async (label: string): Promise<string> =>
      (await qstash.publish({ ...later, label })).messageId;
    const ids = [await publish("a"), await publish("a")];
    for (const label of ["b", "b", "c"]) await publish(label);

    expect(await qstash.messages.cancel([...ids, "msg_unknown"])).toEqual({ cancelled: 2 });
    expect(await qstash.messages.cancel({ filter: { label: "b" }, count: 1 })).toEqual({
      cancelled: 1,
    });
    expect(await qstash.messages.cancel({ filter: { label: "b" } })).toEqual({ cancelled: 1 });
    expect(await qstash.messages.cancel({ all: true })).toEqual({ cancelled: 1 });
    expect(destination.at("/many")).toEqual([]);
  });

  it("is answered with the first id when it publishes a deduplication id again", async () => {
    const once = { url: destination.url("/once"), body: "once", deduplicationId: "order-17" };
    const first = await qstash.publish(once);
    const second = await qstash.publish(once);

    expect(second).toMatchObject({ messageId: first.messageId, deduplicated: true });
    await destination.arrival("/once");
    expect(destination.at("/once")).toHaveLength(1);
  });

  it("gets its callback with the destination's answer, signed like any delivery", async () => {
    destination.answers("/asked", (_, response) =>
      response.writeHead(201, { "x-answer": "yes" }).end("the answer"),
    );
    const { messageId } = await qstash.publish({
      url: destination.url("/asked"),
      body: "question",
      callback: destination.url("/told"),
    });

    const told = await destination.arrival("/told");
    const body = JSON.parse(told.body.toString()) as Record<string, unknown>;
    expect(body).toMatchObject({
      status: 201,
      sourceMessageId: messageId,
      retried: 0,
      maxRetries: 3,
    });
    expect(Buffer.from(String(body["body"]), "base64").toString()).toBe("the answer");
    expect(Buffer.from(String(body["sourceBody"]), "base64").toString()).toBe("question");
    const signature = String(told.headers["upstash-signature"]);
    await expect(receiver.verify({ signature, body: told.body.toString() })).resolves.toBe(true);
  });

  it("finds a failed message in the dead letters, with the answer, and deletes it", async () => {
    destination.answers("/broken", (_, response) => response.writeHead(404).end("404 Not Found"));
    const { messageId } = await qstash.publish({
      url: destination.url("/broken"),
      body: "x",
      retries: 0,
    });

    const letters = await eventually(
      async () => (await qstash.dlq.listMessages({ filter: { messageId } })).messages,
      (messages) => messages.length === 1,
    );
    expect(letters[0]).toMatchObject({
      messageId,
      responseStatus: 404,
      responseBody: "404 Not Found",
    });
    const dlqId = String(letters[0]?.dlqId);
    await qstash.dlq.delete(dlqId);
    await expect(qstash.dlq.delete(dlqId)).rejects.toThrow();
  });

  it("logs a failure without retries as exactly CREATED, ACTIVE, ERROR, FAILED", async () => {
    destination.answers("/gone", (_, response) => response.writeHead(500).end());
    const { messageId } = await qstash.publish({ url: destination.url("/gone"), retries: 0 });

    const { logs } = await eventually(
      () => qstash.logs({ filter: { messageId } }),
      ({ logs: events }) => events.some(({ state }) => state === "FAILED"),
    );
    expect(logs.map(({ state }) => state).toReversed()).toEqual([
      "CREATED",
      "ACTIVE",
      "ERROR",
      "FAILED",
    ]);
  });

  it("manages a URL group and publishes to it, one message for each endpoint", async () => {
    const endpoints = [
      { name: "one", url: destination.url("/g1") },
      { url: destination.url("/g2") },
    ];
    await qstash.urlGroups.addEndpoints({ name: "my-group", endpoints });

    const group = await qstash.urlGroups.get("my-group");
    expect(group.endpoints).toEqual(endpoints);
    const published = (await qstash.publishJSON({ urlGroup: "my-group", body: { n: 1 } })) as {
      url: string;
      messageId: string;
    }[];
    expect(published.map(({ url }) => url)).toEqual(endpoints.map(({ url }) => url));
    expect((await destination.arrival("/g1")).headers).toMatchObject({
      "upstash-topic-name": "my-group",
      "upstash-message-id": published[0]?.messageId,
    });
    await destination.arrival("/g2");
    await qstash.urlGroups.removeEndpoints({
      name: "my-group",
      endpoints: [{ name: "one" }, { url: destination.url("/g2") }],
    });
    await expect(qstash.urlGroups.get("my-group")).rejects.toThrow();
  });
});

describe("a program in development mode", () => {
  it("adopts the server without any other configuration, and its receiver the development keys", async () => {
    const url = destination.url("/dev-mode");
    const program = `
      import { Client } from "@upstash/qstash";
      const { messageId } = await new Client().publish({ url: ${JSON.stringify(url)}, body: "dev" });
      process.stdout.write(messageId);`;
    const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: import.meta.dirname,
      env: { ...bareEnv, QSTASH_DEV: "true", QSTASH_DEV_PORT: String(server.port) },
    });

    const { stdout } = await run;
    const arrival = await destination.arrival("/dev-mode");
    expect(stdout).toContain(String(arrival.headers["upstash-message-id"]));
  });
});
