/** Tests callbacks and failure callbacks (docs/design/wire#callbacks). */
import { describe, expect, it } from "@jest/globals";
import { eventually, type Reply, includes } from "./client.ts";
import { always, type Arrival, failing } from "./destination.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { type Json, listOf, objectOf, textOf } from "./json.ts";
import { client, destination, server, startBeforeTests } from "./suite.ts";

startBeforeTests();

const bodyOf = (arrival: Arrival | undefined): Json =>
  objectOf(JSON.parse(arrival?.body.toString() ?? ""));
const decoded = (base64: unknown): string => Buffer.from(textOf(base64), "base64").toString();
const at = (path: string): string => destination.url(path);
/** Waits for the log, which follows the callback soon. */
const settled = (id: string, as: "DELIVERED" | "FAILED"): Promise<readonly unknown[]> =>
  eventually(
    async () =>
      (await client.listed(`/v2/events?messageId=${id}`, "events")).map(({ state }) => state),
    includes(as),
  );

describe.each(dialects)("a callback in the $prefix dialect", ({ prefix, userAgent }) => {
  const path = (name: string): string => `/${prefix}${name}`;

  it("describes the delivery in JSON: message, attempt, request and response", async () => {
    destination.answers(path("ok"), (_, response) => {
      response.writeHead(201, { "X-Answer": ["a", "b"], "Content-Type": "text/x" });
      response.end(Buffer.from([0x00, 0xff]));
    });
    const settings = {
      Method: "PUT",
      Callback: at(path("told")),
      "Forward-X-Source": "s",
      Retries: "5",
    };
    const source = { "Content-Type": "text/plain", ...inDialect(prefix, settings) };

    const id = await client.published(at(path("ok?q=1")), source, "the source");

    const callback = await destination.arrival(path("told"));
    const body = bodyOf(callback);
    const message = (await client.get(`/v2/messages/${id}`)).object();
    expect(callback.method).toBe("POST");
    expect(callback.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": userAgent,
      [`${prefix}retried`.toLowerCase()]: "0",
    });
    expect(callback.headers[`${prefix}message-id`.toLowerCase()]).not.toBe(id);
    expect(body).toEqual({
      status: 201,
      header: expect.objectContaining({ "X-Answer": ["a", "b"], "Content-Type": ["text/x"] }),
      body: "AP8=",
      retried: 0,
      maxRetries: 5,
      sourceMessageId: id,
      url: at(path("ok?q=1")),
      method: "PUT",
      sourceHeader: { "Content-Type": ["text/plain"], "X-Source": ["s"] },
      sourceBody: Buffer.from("the source").toString("base64"),
      notBefore: String(message["notBefore"]),
      createdAt: String(message["createdAt"]),
      callerIP: "127.0.0.1",
    });
    expect(body["createdAt"]).toMatch(/^\d{13}$/);
  });

  it("is sent with the method, headers, timeout and retries of its own settings", async () => {
    const told = path("configured");
    destination.answers(told, failing(1));
    const settings = {
      Callback: at(told),
      "Callback-Method": "PATCH",
      "Callback-Forward-X-Mine": "m",
      "Callback-Forward-Content-Type": "application/x-mine",
      "Callback-Timeout": "7s",
      "Callback-Retries": "1",
      "Callback-Retry-Delay": "50",
    };

    await client.published(at(path("any")), inDialect(prefix, settings));

    const [first, second] = await destination.arrivals(told, 2);
    expect(first?.method).toBe("PATCH");
    expect(first?.headers).toMatchObject({
      "x-mine": "m",
      "content-type": "application/x-mine",
      [`${prefix}retried`.toLowerCase()]: "0",
    });
    expect(second?.headers[`${prefix}retried`.toLowerCase()]).toBe("1");
    expect(second?.body).toEqual(first?.body);
    const id = textOf(first?.headers[`${prefix}message-id`.toLowerCase()]);
    const message = (await client.get(`/v2/messages/${id}`)).object();
    expect(message).toMatchObject({ timeout: 7_000, maxRetries: 1, retryDelayExpression: "50" });
  });
});

describe("callbacks", () => {
  it("are sent after each attempt until one succeeds, each once", async () => {
    destination.answers("/third-time", failing(2, 503));
    const settings = { Callback: at("/each"), Retries: "4", "Retry-Delay": "30" };

    const id = await client.published(at("/third-time"), service(settings));

    const told = (await destination.arrivals("/each", 3)).map(bodyOf);
    expect(told.map(({ retried }) => retried).toSorted()).toEqual([0, 1, 2]);
    const status = new Map(told.map((body) => [body["retried"], body["status"]]));
    expect([0, 1, 2].map((retried) => status.get(retried))).toEqual([503, 503, 200]);
    expect(told.every((body) => body["sourceMessageId"] === id)).toBe(true);
    expect(await settled(id, "DELIVERED")).toContain("DELIVERED");
    expect(destination.at("/each")).toHaveLength(3);
  });

  it("are sent until retries are exhausted, and the last has retried equal to maxRetries", async () => {
    destination.answers("/never", always(500, "no"));
    const settings = { Callback: at("/all-failed"), Retries: "2", "Retry-Delay": "30" };

    await client.published(at("/never"), service(settings));

    const told = (await destination.arrivals("/all-failed", 3)).map(bodyOf);
    const last = told.find(({ retried, maxRetries }) => retried === maxRetries);
    expect(last).toMatchObject({ retried: 2, maxRetries: 2, status: 500 });
    expect(decoded(last?.["body"])).toBe("no");
  });

  it("take the retries of their message, and become dead letters of their own", async () => {
    destination.answers("/broken-callback", always(500));
    const settings = { Callback: at("/broken-callback"), Retries: "1", "Retry-Delay": "30" };

    const source = await client.published(at("/source"), service(settings));

    const arrivals = await destination.arrivals("/broken-callback", 2);
    const id = textOf(arrivals[0]?.headers["service-message-id"]);
    const letter = await deadLetterOf(id);
    expect(letter).toMatchObject({ messageId: id, maxRetries: 1, url: at("/broken-callback") });
    expect(destination.at("/broken-callback")).toHaveLength(2);
    expect(await settled(source, "DELIVERED")).toContain("DELIVERED");
  });

  it("cause no callbacks", async () => {
    destination.answers("/silent-callback", always(500));
    const own = { "Failure-Callback": at("/too-much"), Callback: at("/silent-callback") };

    const settings = { ...own, Retries: "0", "Forward-X": "1" };
    await client.published(at("/quiet-source"), service(settings));

    const [first] = await destination.arrivals("/silent-callback");
    await deadLetterOf(textOf(first?.headers["service-message-id"]));
    expect(destination.at("/too-much")).toEqual([]);
    expect(destination.at("/silent-callback")).toHaveLength(1);
  });

  it("carry a response of 1 MiB whole, and the first 1 MiB of a larger one", async () => {
    const mebibyte = 1024 * 1024;
    destination.answers("/large", (_, response) => response.end("x".repeat(mebibyte)));
    destination.answers("/larger", (_, response) => response.end("x".repeat(mebibyte + 1)));

    await client.published(at("/large"), service({ Callback: at("/large-told") }));
    await client.published(at("/larger"), service({ Callback: at("/larger-told") }));

    const large = bodyOf(await destination.arrival("/large-told"));
    const larger = bodyOf(await destination.arrival("/larger-told"));
    expect(decoded(large["body"])).toHaveLength(mebibyte);
    expect(larger["status"]).toBe(200);
    expect(decoded(larger["body"])).toHaveLength(mebibyte);
  });

  it("are refused when their URL is the server's own address", async () => {
    const url = `http://127.0.0.1:${server.port}/v2/publish/${at("/x")}`;

    const callback = await client.publish(at("/x"), service({ Callback: url }));
    const failure = await client.publish(at("/x"), service({ "Failure-Callback": url }));

    expect(callback.status).toBe(400);
    expect(callback.error()).toMatch(/^Service-Callback: .*this service itself/);
    expect(failure.error()).toMatch(/^Service-Failure-Callback: /);
  });
});

describe("a failure callback", () => {
  it("is sent once, and its dlqId names a dead letter that can be read when it arrives", async () => {
    destination.answers("/fails", always(500, "sorry"));
    let letter: Promise<Reply> | undefined;
    destination.answers("/failed", (arrival, response) => {
      letter = client.get(`/v2/dlq/${textOf(bodyOf(arrival)["dlqId"])}`);
      void letter.finally(() => response.end());
    });
    const settings = { "Failure-Callback": at("/failed"), Retries: "1", "Retry-Delay": "30" };

    const id = await client.published(at("/fails"), service(settings), "the source");

    const body = bodyOf(await destination.arrival("/failed"));
    expect(body).toMatchObject({ sourceMessageId: id, retried: 1, maxRetries: 1, status: 500 });
    expect(decoded(body["sourceBody"])).toBe("the source");
    const found = await letter;
    expect(found?.status).toBe(200);
    expect(found?.object()).toMatchObject({ messageId: id, responseBody: "sorry" });
    expect(await settled(id, "FAILED")).toContain("FAILED");
    expect(destination.at("/failed")).toHaveLength(1);
  });

  it("finds its dead letter in each of a hundred failures at once", async () => {
    destination.answers("/many-fail", always(500));
    const statuses: Promise<number>[] = [];
    destination.answers("/many-failed", (arrival, response) => {
      const read = client.get(`/v2/dlq/${textOf(bodyOf(arrival)["dlqId"])}`);
      statuses.push(read.then(({ status }) => status));
      void read.finally(() => response.end());
    });
    const settings = service({ "Failure-Callback": at("/many-failed"), Retries: "0" });

    await Promise.all(
      Array.from({ length: 100 }, () => client.published(at("/many-fail"), settings)),
    );

    await destination.arrivals("/many-failed", 100);
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([200]));
  });

  it("is sent beside the callbacks, and not when a later attempt succeeds", async () => {
    destination.answers("/recovers", failing(1));
    destination.answers("/gives-up", always(500));
    const settings = (name: string) =>
      service({
        Callback: at(`/${name}/callback`),
        "Failure-Callback": at(`/${name}/failure`),
        "Failure-Callback-Method": "PUT",
        "Failure-Callback-Forward-X-Mine": "f",
        Retries: "1",
        "Retry-Delay": "30",
      });

    await client.published(at("/recovers"), settings("recovers"));
    await client.published(at("/gives-up"), settings("gives-up"));

    const failure = await destination.arrival("/gives-up/failure");
    await destination.arrivals("/gives-up/callback", 2);
    await destination.arrivals("/recovers/callback", 2);
    expect(failure).toMatchObject({ method: "PUT", headers: { "x-mine": "f" } });
    expect(destination.at("/recovers/failure")).toEqual([]);
  });
});

/** Waits for the dead letter, whose record follows the destination's last answer. */
async function deadLetterOf(id: string): Promise<Json> {
  for (let tries = 0; tries < 200; tries++) {
    const { messages } = (await client.get(`/v2/dlq?messageId=${id}`)).object();
    const [letter] = listOf(messages);
    if (letter) return letter;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`no dead letter of ${id}`);
}
