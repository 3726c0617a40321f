import { describe, expect, it } from "@jest/globals";
import {
  type AttemptFact,
  type CallbackPlan,
  type DeadLetter,
  type Policy,
  callbackMessage,
  dlqId,
  dlqIdOf,
  eventsOf,
  idOfRetriedLetter,
  groupChunkId,
  messageId,
  redactedConfiguration,
  tenantId,
  type LogState,
} from "@posthaste/domain";
import * as fc from "fast-check";
import { deadLetterJson, deadLetterPageJson, deadLetterSchema } from "../endpoints/dead-letters.ts";
import {
  eventPageJson,
  groupedLogPageJson,
  logEntryJson,
  logEntrySchema,
  logPageJson,
} from "../endpoints/message-log.ts";
import { messageJson, messageSchema, publishedJson } from "../endpoints/messages.ts";
import { publishResultText } from "../endpoints/publish.ts";
import { keysJson } from "../endpoints/signing-keys.ts";
import { endpointsText, groupClosing, groupOpening } from "../endpoints/url-groups.ts";
import { bytes, hidden, messageFixture, sha256 } from "./message.fixture.ts";

const view = { sha256, positionAt: (time: number) => time };
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const callback: CallbackPlan = {
  url: "https://example.com/cb",
  method: "POST",
  headers: [["x-secret", "cb"]],
  delayMs: 0,
  timeoutMs: 60_000,
};
const everything: Partial<Policy> = {
  callback,
  failureCallback: { ...callback, url: "https://example.com/fcb", headers: [] },
  labels: ["a", "b"],
  flow: { key: "k", limits: { parallelism: 2, rate: 5, periodMs: 60_000 } },
  retryDelay: "1000*(1+retried)",
};
const origin = {
  callerIp: "192.0.2.7",
  hop: 1,
  group: { name: "g", endpointName: "e" },
  scheduleId: "s",
  queueName: "q",
};

describe("the read of a message", () => {
  it("holds only the fields that are always there when no other setting was given", () => {
    expect(json(publishedJson(messageFixture(), view))).toEqual({
      messageId: "msg_00000000100000000000000000",
      url: "http://example.com",
      method: "POST",
      header: {},
      maxRetries: 3,
      notBefore: 1_700_000_005_000,
      createdAt: 1_700_000_000_000,
      callerIP: "192.0.2.7",
      timeout: 30_000,
    });
  });

  it("holds all that was given, in the names and units of the interface", () => {
    const headers = [
      ["test-header", "a, b"],
      ["TEST-HEADER", "c"],
      ["__proto__", "d"],
    ] as const;
    const message = messageFixture({ headers, body: bytes("text"), origin }, everything);

    const read = json(messageJson(message, [], { ...view, keptMs: 5 }));

    expect(read).toEqual({
      messageId: "msg_00000000100000000000000000",
      url: "http://example.com",
      topicName: "g",
      endpointName: "e",
      method: "POST",
      header: JSON.parse('{"Test-Header":["a, b","c"],"__proto__":["d"]}') as unknown,
      body: "text",
      maxRetries: 3,
      notBefore: 1_700_000_005_000,
      createdAt: 1_700_000_000_000,
      callback: "https://example.com/cb",
      callbackHeader: { "X-Secret": ["cb"] },
      failureCallback: "https://example.com/fcb",
      queueName: "q",
      scheduleId: "s",
      callerIP: "192.0.2.7",
      label: "a",
      labels: ["a", "b"],
      flowControlKey: "k",
      parallelism: 2,
      rate: 5,
      period: 60,
      retryDelayExpression: "1000*(1+retried)",
      timeout: 30_000,
      state: "CREATED",
      attempts: [],
    });
    expect(messageSchema.strict().safeParse(read).success).toBe(true);
  });

  it("shows each attempt with time, duration, status and size, and its state", () => {
    const message = messageFixture();
    const common = { kind: "fact", id: message.id } as const;
    const failed: AttemptFact = {
      ...{ ...common, attempt: 0, startedAt: 10, endedAt: 25, ended: "retry" },
      ...{ answered: { status: 500, bytes: 3 }, error: "it broke off" },
    };
    const delivered: AttemptFact = {
      ...{ ...common, attempt: 1, startedAt: 40, endedAt: 41, ended: "delivered" },
      answered: { status: 201, bytes: 70_000 },
    };
    const log = [
      ...eventsOf(failed).map((event) => ({ event, fact: failed })),
      ...eventsOf(delivered).map((event) => ({ event })),
    ];

    const read = json(messageJson(message, log, { ...view, keptMs: 5 }));

    expect(read).toMatchObject({
      state: "DELIVERED",
      bodyKeptUntil: 46,
      attempts: [
        {
          ...{ startedAt: 10, endedAt: 25, tookMs: 15, ended: "failed", error: "it broke off" },
          ...{ answerStatus: 500, answerBytes: 3 },
        },
        {
          ...{ startedAt: 40, endedAt: 41, tookMs: 1, ended: "delivered" },
          ...{ answerStatus: 201, answerBytes: 70_000 },
        },
      ],
    });
    expect(messageSchema.strict().safeParse(read).success).toBe(true);
  });

  it("has a period whenever it has a flow control key", () => {
    const flow = { key: "k", limits: { parallelism: 1, periodMs: 1_000 } };

    const read = publishedJson(messageFixture({}, { flow }), view);

    expect(read).toMatchObject({ parallelism: 1, period: 1 });
    expect(read).not.toHaveProperty("rate");
  });

  it.each([
    ["plain text", bytes("aé😀\0"), { body: "aé😀\0" }],
    ["a byte order mark", new Uint8Array([0xef, 0xbb, 0xbf, 0x61]), { body: "\uFEFFa" }],
    ["U+FFFD itself", bytes("\uFFFD"), { body: "\uFFFD" }],
    ["a byte that is not UTF-8", new Uint8Array([0x61, 0xff]), { bodyBase64: "Yf8=" }],
    ["a surrogate", new Uint8Array([0xed, 0xa0, 0x80]), { bodyBase64: "7aCA" }],
    ["a cut character", bytes("é").subarray(0, 1), { bodyBase64: "ww==" }],
    ["nothing", new Uint8Array(), {}],
  ])("keeps a body of %s whole", (_, body, expected) => {
    const { body: text, bodyBase64 } = publishedJson(messageFixture({ body }), view);

    expect(json({ body: text, bodyBase64 })).toEqual(expected);
  });

  it("gives any body back byte for byte", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (body) => {
        const read = publishedJson(messageFixture({ body }), view);

        const back =
          read.bodyBase64 === undefined
            ? bytes(read.body ?? "")
            : Buffer.from(read.bodyBase64, "base64");
        expect(Buffer.from(back).equals(Buffer.from(body))).toBe(true);
      }),
    );
  });

  it.each([
    [5, "aaaaé", "aaaa"],
    [6, "aaaaé", "aaaaé"],
    [3, "😀", undefined],
    [2, "abc", "ab"],
    [0, "abc", undefined],
  ])("is cut at %i bytes, between characters", (bodyBytesMax, body, expected) => {
    const read = publishedJson(messageFixture({ body: bytes(body) }), { sha256, bodyBytesMax });

    expect(read.body || undefined).toBe(expected);
    expect(read).not.toHaveProperty("bodyBase64");
  });
});

describe("redaction", () => {
  const headers = [
    ["Authorization", "secret"],
    ["x-open", "open"],
  ] as const;

  it("hides the body and the named headers, whatever their case, and the callback's too", () => {
    const redaction = { body: true, headers: ["authorization", "x-secret"] };
    const policy = { ...everything, redaction };
    const message = messageFixture({ headers, body: bytes("secret") }, policy);

    expect(publishedJson(message, view)).toMatchObject({
      body: hidden("secret"),
      header: { Authorization: [hidden("secret")], "X-Open": ["open"] },
      callbackHeader: { "X-Secret": [hidden("cb")] },
    });
  });

  it("hides bodies that are not text, and no longer shows how they were cut", () => {
    const body = new Uint8Array([0xff, 0x00]);
    const message = messageFixture({ body }, { redaction: { body: true, headers: [] } });

    const read = publishedJson(message, { sha256, bodyBytesMax: 1 });

    expect(read.body).toBe(hidden(body));
    expect(read).not.toHaveProperty("bodyBase64");
  });

  it("of all headers hides each", () => {
    const message = messageFixture({ headers }, { redaction: { body: false, headers: "all" } });

    expect(publishedJson(message, view).header).toEqual({
      Authorization: [hidden("secret")],
      "X-Open": [hidden("open")],
    });
  });

  it("of a message applies to the callback that reports it, in everything that the callback carries", () => {
    const redaction = { body: false, headers: ["authorization"] };
    const source = messageFixture({ headers, body: bytes("canary") }, { ...everything, redaction });
    const item = { kind: "callback", attempt: 0, endedAt: 1, retried: 0 } as const;

    const told = callbackMessage(source, item);

    expect(told).toBeDefined();
    if (!told) return;
    expect(publishedJson(told, view).body).toBe(hidden(told.body));
    expect(JSON.stringify(publishedJson(told, view))).not.toContain("secret");
  });

  it("holds for the response that a dead letter keeps: its body and the headers of the same name", () => {
    const redaction = { body: true, headers: ["authorization"] };
    const letter: DeadLetter = {
      id: dlqId("1-x"),
      failedAt: 1,
      reason: "retries_exhausted",
      message: messageFixture({ headers, body: bytes("secret") }, { redaction }),
      retried: 3,
      response: {
        status: 500,
        headers: [["authorization", "echoed secret"]],
        body: bytes("echoed secret"),
        truncated: false,
      },
    };

    expect(JSON.stringify(deadLetterJson(letter, view))).not.toContain("secret");
  });

  it("is done once, also to a log entry whose configuration was redacted on its way", () => {
    const redaction = { body: true, headers: "all" } as const;
    const message = messageFixture({ headers }, { redaction });
    const event = { at: 1, attempt: 0, state: "CREATED" } as const;

    const [raw, redacted] = [message, redactedConfiguration(message, sha256)].map((configuration) =>
      logEntryJson({ event, message: configuration, body: bytes("secret") }, view),
    );

    expect(raw?.header).toEqual({ Authorization: [hidden("secret")], "X-Open": [hidden("open")] });
    expect(raw?.body).toBe(hidden("secret"));
    expect(redacted).toEqual(raw);
  });
});

describe("the read of a dead letter", () => {
  const letter: DeadLetter = {
    id: dlqId("1700000000000-x"),
    failedAt: 1,
    reason: "retries_exhausted",
    message: messageFixture({ body: bytes("b") }),
    retried: 3,
  };

  it("is its message with the last response", () => {
    const response = {
      status: 404,
      headers: [["content-type", "text/plain"]] as const,
      body: bytes("404 Not Found"),
      truncated: false,
    };

    const read = json(deadLetterJson({ ...letter, response }, view));

    expect(read).toMatchObject({
      dlqId: "1700000000000-x",
      body: "b",
      responseStatus: 404,
      responseHeader: { "Content-Type": ["text/plain"] },
      responseBody: "404 Not Found",
    });
    expect(deadLetterSchema.strict().safeParse(read).success).toBe(true);
  });

  it("has the status 0 when there was no response", () => {
    const read = deadLetterJson(letter, view);

    expect(read.responseStatus).toBe(0);
    expect(read).not.toHaveProperty("responseHeader");
  });

  it("gives a binary response in base64", () => {
    const response = { status: 500, headers: [], body: new Uint8Array([0xff]), truncated: false };

    expect(deadLetterJson({ ...letter, response }, view)).toMatchObject({
      responseBodyBase64: "/w==",
    });
  });

  it("appears on a page with a cursor only when there are more", () => {
    expect(deadLetterPageJson([])).toEqual({ messages: [] });
    expect(deadLetterPageJson([], "c")).toEqual({ cursor: "c", messages: [] });
  });
});

describe("the read of a log entry", () => {
  const fact: AttemptFact = {
    kind: "fact",
    id: messageId("m"),
    attempt: 0,
    startedAt: 1,
    endedAt: 2,
    ended: "retry",
    nextDeliveryAt: 9,
    response: { status: 500, headers: [["x-a", "1"]], body: bytes("no"), truncated: false },
  };
  const entry = (state: LogState, changed: Partial<AttemptFact> = {}) =>
    logEntryJson(
      {
        event: { at: 2, attempt: 0, state },
        message: messageFixture({ headers: [["x-h", "1"]], origin }, everything),
        fact: { ...fact, ...changed },
        body: bytes("body"),
      },
      view,
    );

  it("of a message that has failed names its dead letter, and no other event does", () => {
    const id = messageFixture().id;

    const dlqId = dlqIdOf(id, 2);
    const retryMessageId = idOfRetriedLetter(messageFixture().tenant, dlqId, 2, sha256);
    expect(entry("FAILED")).toMatchObject({ dlqId, retryMessageId });
    for (const state of ["CREATED", "ERROR", "RETRY", "DELIVERED"] as const) {
      expect(entry(state)).not.toHaveProperty("dlqId");
      expect(entry(state)).not.toHaveProperty("retryMessageId");
    }
  });

  it.each(["CREATED", "ERROR", "RETRY"] as const)("of %s carries the configuration", (state) => {
    const read = json(entry(state));

    expect(read).toMatchObject({
      time: 2,
      messageId: "msg_00000000100000000000000000",
      state,
      url: "http://example.com",
      topicName: "g",
      header: { "X-H": ["1"] },
      body: "Ym9keQ==",
      timeout: 30_000,
      callback: "https://example.com/cb",
      callbackHeaders: { "X-Secret": ["cb"] },
      maxRetries: 3,
      retryDelayExpression: "1000*(1+retried)",
      retryDelayExpr: "1000*(1+retried)",
      flowControlKey: "k",
      label: "a",
    });
    expect(logEntrySchema.strict().safeParse(read).error).toBeUndefined();
  });

  it("carries the response on ERROR alone, under both names", () => {
    const headers = { "X-A": ["1"] };

    expect(entry("ERROR")).toMatchObject({
      responseStatus: 500,
      responseBody: "bm8=",
      responseHeaders: headers,
      responseHeader: headers,
    });
    for (const state of ["CREATED", "RETRY"] as const) {
      expect(entry(state)).not.toHaveProperty("responseStatus");
      expect(entry(state)).not.toHaveProperty("responseBody");
    }
  });

  it("says when the next delivery is on RETRY alone", () => {
    expect(entry("RETRY")).toMatchObject({ nextDeliveryTime: 9 });
    expect(entry("ERROR")).not.toHaveProperty("nextDeliveryTime");
  });

  it("says why there was no response", () => {
    const { response: _, ...unanswered } = fact;
    const read = logEntryJson(
      {
        event: { at: 2, attempt: 0, state: "ERROR" },
        message: messageFixture(),
        fact: { ...unanswered, error: "timeout" },
      },
      view,
    );

    expect(read).toMatchObject({ error: "timeout" });
    expect(read).not.toHaveProperty("responseStatus");
  });

  it("appears on pages under the keys that clients read", () => {
    const event = entry("ERROR");

    expect(eventPageJson([event])).toEqual({ events: [event] });
    expect(logPageJson([event], "c")).toEqual({ cursor: "c", events: [event], logs: [event] });
  });

  it("appears with the others of its message when grouped", () => {
    const [a, b] = [entry("ERROR"), entry("RETRY")];
    const other = { ...a, messageId: "other" };

    expect(groupedLogPageJson([a, other, b], "c")).toEqual({
      cursor: "c",
      messages: [
        { messageId: a.messageId, events: [a, b] },
        { messageId: "other", events: [other] },
      ],
    });
  });
});

describe("other answers", () => {
  const id = messageId("m");
  const url = "https://example.com";
  const group = { tenant: tenantId("t"), name: "g", createdAt: 1, updatedAt: 2, version: 3 };

  it("of a publish say when it was a duplicate", () => {
    const first = { messageId: id, url, deduplicated: false };

    const shown = (published: typeof first): unknown => JSON.parse(publishResultText(published));
    const answer = { messageId: "m", url };
    expect(shown(first)).toEqual(answer);
    expect(shown({ ...first, deduplicated: true })).toEqual({ ...answer, deduplicated: true });
  });

  it("of a group list its endpoints in order, without names that they have not", () => {
    const endpoints = endpointsText([{ url: "b", name: "n" }, { url: "a" }]);

    const whole = { ...group, chunks: [groupChunkId("c")], endpointCount: 2 };
    expect(JSON.parse(groupOpening(whole, sha256) + endpoints + groupClosing)).toEqual({
      name: "g",
      createdAt: 1,
      updatedAt: 2,
      endpoints: [{ name: "n", url: "b" }, { url: "a" }],
    });
  });

  it("of a group hide the headers that its own redact", () => {
    const headers = [
      ["Service-Redact-Fields", "header[X-Card], header[X-Pin]"],
      ["Service-Forward-X-Card", "4242"],
      ["Service-Forward-X-Shop", "north"],
      ["service-failure-callback-forward-x-pin", "17"],
    ] as const;
    const whole = { ...group, chunks: [], endpointCount: 0, headers };

    const shown = JSON.parse(groupOpening(whole, sha256) + groupClosing) as object;

    expect(shown).toMatchObject({
      headers: {
        "Service-Redact-Fields": "header[X-Card], header[X-Pin]",
        "Service-Forward-X-Card": `REDACTED:${sha256("4242")}`,
        "Service-Forward-X-Shop": "north",
        "service-failure-callback-forward-x-pin": `REDACTED:${sha256("17")}`,
      },
    });
  });

  it("of the keys hold the keys alone", () => {
    const stored = { current: "sig_1", next: "sig_2", secret: "x" };

    expect(keysJson(stored)).toEqual({ current: "sig_1", next: "sig_2" });
  });
});
