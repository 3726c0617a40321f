/** Tests redaction (docs/design/wire#redaction): deliveries get the originals, nothing else does. */
import { hash } from "node:crypto";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { hasLength } from "./client.ts";
import { always, type Arrival } from "./destination.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { type Json, objectOf, textOf } from "./json.ts";
import { firstUser } from "./users.ts";
import { client, destination, server, startBeforeTests } from "./suite.ts";

startBeforeTests({ env: { POSTHASTE_LOG_LEVEL: "debug" } });

const redacted = (value: string): string => `REDACTED:${hash("sha256", value, "hex")}`;

async function allReads(id: string): Promise<string> {
  const replies = await Promise.all([
    client.get(`/v2/messages/${id}`),
    client.get(`/v2/dlq?messageId=${id}&trimBody=100000`),
    client.get(`/v2/events?messageId=${id}&trimBody=100000`),
    client.get(`/v2/logs?messageId=${id}&trimBody=100000`),
    client.get(`/v2/logs?groupBy=messageId&messageId=${id}&trimBody=100000`),
  ]);
  const letters = replies[1]?.list("messages") ?? [];
  const letter = letters[0] && (await client.get(`/v2/dlq/${textOf(letters[0]["dlqId"])}`));
  return [...replies, ...(letter ? [letter] : [])].map(({ text }) => text).join("\n");
}

const failed = (id: string): Promise<unknown> =>
  client.until(`/v2/dlq?messageId=${id}`, "messages", hasLength(1));

const idOf = (arrival: Arrival, prefix: string): string =>
  textOf(arrival.headers[`${prefix}message-id`.toLowerCase()]);
const bodyOf = (arrival: Arrival): Json => objectOf(JSON.parse(arrival.body.toString()));

describe.each(dialects)("body and headers in the $prefix dialect", ({ prefix }) => {
  const path = (name: string): string => `/${prefix}${name}`;
  const canary = (field: string): string => `canary-${prefix}${field}`;
  const canaries = [
    ...["body", "header", "authorization", "content-type", "callback-header"],
    ...["failure-callback-header", "response-body", "response-header"],
  ].map(canary);
  /** The text itself, and its base64 at each of the three offsets. */
  const forms = canaries.flatMap((text) => [
    text,
    ...[0, 1, 2].map((shift) =>
      Buffer.from(" ".repeat(shift) + text)
        .toString("base64")
        .slice(shift === 0 ? 0 : 4, -4),
    ),
  ]);
  const leaks = (text: string): readonly string[] => forms.filter((form) => text.includes(form));

  let arrivals: { source: Arrival; callback: Arrival; failure: Arrival };
  let reads: readonly string[];

  beforeAll(async () => {
    destination.answers(path("source"), (_, response) => {
      response.writeHead(500, { "X-Secret-Response": canary("response-header") });
      response.end(canary("response-body"));
    });
    // Both callbacks fail, so that they become dead letters as well.
    destination.answers(path("callback"), always(500, canary("response-body")));
    destination.answers(path("failure"), always(500, canary("response-body")));
    const settings = {
      "Redact-Fields": "body, headers",
      "Forward-X-Secret": canary("header"),
      "Forward-Authorization": canary("authorization"),
      Callback: destination.url(path("callback")),
      "Callback-Forward-X-Secret": canary("callback-header"),
      "Failure-Callback": destination.url(path("failure")),
      "Failure-Callback-Forward-X-Secret": canary("failure-callback-header"),
      Retries: "1",
      "Retry-Delay": "20",
    };
    const id = await client.published(
      destination.url(path("source")),
      { "Content-Type": canary("content-type"), ...inDialect(prefix, settings) },
      canary("body"),
    );
    await failed(id);
    arrivals = {
      source: await destination.arrival(path("source")),
      callback: await destination.arrival(path("callback")),
      failure: await destination.arrival(path("failure")),
    };
    const ids = [id, idOf(arrivals.callback, prefix), idOf(arrivals.failure, prefix)];
    for (const each of ids) await failed(each);
    reads = await Promise.all(ids.map(allReads));
  });

  it("reach the destination unredacted", () => {
    expect(arrivals.source.body.toString()).toBe(canary("body"));
    expect(arrivals.source.headers).toMatchObject({
      "x-secret": canary("header"),
      authorization: canary("authorization"),
      "content-type": canary("content-type"),
    });
  });

  it("reach the callbacks unredacted", () => {
    expect(arrivals.callback.headers["x-secret"]).toBe(canary("callback-header"));
    expect(arrivals.failure.headers["x-secret"]).toBe(canary("failure-callback-header"));
    for (const arrival of [arrivals.callback, arrivals.failure]) {
      const { body, sourceBody, sourceHeader, header } = bodyOf(arrival);
      expect(Buffer.from(textOf(sourceBody), "base64").toString()).toBe(canary("body"));
      expect(Buffer.from(textOf(body), "base64").toString()).toBe(canary("response-body"));
      expect(sourceHeader).toMatchObject({ "X-Secret": [canary("header")] });
      expect(header).toMatchObject({ "X-Secret-Response": [canary("response-header")] });
    }
  });

  it("appear in no read of the message, its dead letter and its log except as hashes", () => {
    expect(leaks(reads[0] ?? "")).toEqual([]);
    for (const field of ["body", "header", "callback-header", "response-body", "response-header"]) {
      expect(reads[0]).toContain(redacted(canary(field)));
    }
  });

  it("appear in no read of the callbacks whose bodies hold them", () => {
    expect(leaks(reads[1] ?? "")).toEqual([]);
    expect(leaks(reads[2] ?? "")).toEqual([]);
  });

  it("appear in no line that the process has written at the lowest level", () => {
    expect(server.output()).toContain("attempt.ended");
    expect(leaks(server.output())).toEqual([]);
  });
});

describe("redaction", () => {
  it("of a header hides it in the response, too", async () => {
    destination.answers("/same", (_, response) =>
      response.writeHead(500, { "X-Session": "response-canary", "X-Open": "open" }).end(),
    );
    const settings = { "Redact-Fields": "header[x-session]", Retries: "0" };

    const id = await client.published(destination.url("/same"), service(settings));

    await failed(id);
    const reads = await allReads(id);
    expect(reads).not.toContain("response-canary");
    expect(reads).toContain(redacted("response-canary"));
    expect(reads).toContain("open");
  });

  it("is not needed for refused values: the answer names the header and not its value", async () => {
    const reply = await client.publish(destination.url("/x"), {
      "Service-Forward-Host": "canary-refused",
      "Service-Retries": "canary-refused",
    });

    expect(reply.status).toBe(400);
    expect(reply.text).not.toContain("canary-refused");
  });
});

it("no line that the process has written has a signing key", () => {
  expect(server.output()).not.toContain(firstUser.keys.current);
  expect(server.output()).not.toContain(firstUser.keys.next);
});
