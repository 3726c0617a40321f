import { describe, expect, it } from "@jest/globals";
import { type DeadLetter } from "@posthaste/client/api";
import { curlOf } from "./curl.ts";
import { headersOf, pairsIn, type Publication, publicationOf, retryOf } from "./publication.ts";

const letter: DeadLetter = {
  messageId: "msg_1",
  dlqId: "1-1",
  url: "https://a.example/x",
  method: "PUT",
  timeout: 30_000,
  maxRetries: 3,
  labels: ["orders", "eu"],
  flowControlKey: "crm",
  parallelism: 2,
  rate: 10,
  period: 60,
  header: { "Content-Type": ["application/json"], "X-Order": ["17"], "X-Secret": ["REDACTED:ab"] },
  notBefore: 0,
  createdAt: 0,
  callerIP: "192.0.2.1",
  responseStatus: 500,
};

describe("a dead letter is published again", () => {
  it("with its settings, its headers and its body", () => {
    const made = publicationOf(letter, { text: '{"order":17}', isBinary: false });

    expect(headersOf(made)).toEqual([
      ["Content-Type", "application/json"],
      ["Service-Method", "PUT"],
      ["Service-Retries", "3"],
      ["Service-Timeout", "30s"],
      ["Service-Label", "orders, eu"],
      ["Service-Flow-Control-Key", "crm"],
      ["Service-Flow-Control-Value", "parallelism=2, rate=10, period=60"],
      ["Service-Forward-X-Order", "17"],
    ]);
    expect(made).toMatchObject({ destination: letter.url, body: '{"order":17}' });
  });

  it("and names the redacted parts, which must be given again", () => {
    expect(publicationOf(letter, { text: "REDACTED:cd", isBinary: false })).toMatchObject({
      body: "",
      missing: ["body", "header X-Secret"],
    });
    expect(publicationOf(letter, { text: "AA==", isBinary: true }).missing).toContain("body");
  });
});

describe("a dead letter that is sent again, changed, is retried", () => {
  const was = publicationOf(letter, { text: "as it was", isBinary: false });
  const retry = (changes: Partial<Publication>, settings: Publication["settings"] = {}) =>
    retryOf("1-1", was, { ...was, ...changes, settings: { ...was.settings, ...settings } });

  it("with only the changed settings: all others stay, redacted parts included", () => {
    expect(retry({})).toEqual({ path: "dlq/retry/1-1", headers: [], body: "" });
    expect(retry({ body: "edited", contentType: "text/plain" }, { retries: "5" })).toEqual({
      path: "dlq/retry/1-1?replaceBody=true",
      headers: [
        ["Service-Retries", "5"],
        ["Service-Forward-Content-Type", "text/plain"],
      ],
      body: "edited",
    });
    expect(retry({ body: "" })?.path).toBe("dlq/retry/1-1?replaceBody=true");
    const headers = [["x-order", "18"] as const, ["X-Secret", "given"] as const];
    expect(retry({ forwarded: headers })?.headers).toEqual([
      ["Service-Forward-x-order", "18"],
      ["Service-Forward-X-Secret", "given"],
    ]);
  });

  it("with the URL of its callback beside a setting of that", () => {
    const called = { ...was, settings: { ...was.settings, callback: "https://a.example/done" } };
    const now = { ...called, settings: { ...called.settings, callbackRetries: "2" } };

    expect(retryOf("1-1", called, now)?.headers).toEqual([
      ["Service-Callback-Retries", "2"],
      ["Service-Callback", "https://a.example/done"],
    ]);
  });

  it.each<readonly [why: string, changes: Partial<Publication>, settings: Publication["settings"]]>(
    [
      ["to another destination", { destination: "https://b.example" }, {}],
      ["without a header that it had", { forwarded: [] }, {}],
      ["without a content type", { contentType: "" }, {}],
      ["without a label", {}, { label: "" }],
      ["in another queue", {}, { queueName: "mails" }],
      ["with a deduplication id", {}, { deduplicationId: "once" }],
    ],
  )("but not %s", (_, changes, settings) => {
    expect(retry(changes, settings)).toBeUndefined();
  });
});

it("lines of headers are read as names and values", () => {
  expect(pairsIn("X-A: 1:2\n\n x-b:y \nx-c")).toEqual([
    ["X-A", "1:2"],
    ["x-b", "y"],
    ["x-c", ""],
  ]);
});

it("a call as curl quotes characters that a shell would interpret", () => {
  const curl = curlOf({
    method: "POST",
    url: "http://localhost/v2/publish/https://a.example/?a=1&b='2'",
    headers: [["Service-Label", "it's"]],
    body: '{"a":"$HOME"}',
  });

  expect(curl).toBe(
    `curl -X POST 'http://localhost/v2/publish/https://a.example/?a=1&b='\\''2'\\''' \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'Service-Label: it'\\''s' \\
  --data-binary '{"a":"$HOME"}'`,
  );
});
