import { describe, expect, it } from "@jest/globals";
import { callbackId, failureCallbackId, flowLaneId, shardOf } from "../shared/ids.ts";
import { aCallbackPlan, aMessage, anAnswer, aPolicy, epochStart as now } from "@posthaste/testing";
import { callbackMessage, canonicalName, groupedHeaders } from "./callback.ts";
import { type CallbackItem } from "./follow-up.ts";
import { type Message } from "./message.ts";
import { type CallbackPlan } from "./policy.ts";

const plan: CallbackPlan = aCallbackPlan();
const source = (
  policy: Partial<Message["policy"]> = {},
  overrides: Parameters<typeof aMessage>[0] = {},
) =>
  aMessage({ ...overrides, policy: aPolicy({ callback: plan, failureCallback: plan, ...policy }) });

const answered: CallbackItem = {
  kind: "callback",
  attempt: 1,
  endedAt: now + 2_000,
  retried: 1,
  response: anAnswer(502, {
    headers: [
      ["x-why", "busy"],
      ["X-Why", "still"],
    ],
    body: "no",
  }),
};
const failed: CallbackItem = {
  ...answered,
  kind: "failureCallback",
  attempt: 3,
  retried: 3,
  dlqId: dlq("1-a"),
};

function dlq(text: string): NonNullable<CallbackItem["dlqId"]> {
  return text as NonNullable<CallbackItem["dlqId"]>;
}
const bodyOf = (message: Message | undefined): Record<string, unknown> =>
  JSON.parse(new TextDecoder().decode(message?.body)) as Record<string, unknown>;
const base64 = (text: string): string => Buffer.from(text).toString("base64");

const always = [
  "status", "header", "body", "retried", "maxRetries", "sourceMessageId", "url", "method", "sourceHeader", "sourceBody",
  "notBefore", "createdAt", "callerIP",
]; // oxfmt-ignore
const whenApplicable = ["topicName", "endpointName", "scheduleId"];

describe("the body of a callback", () => {
  it("has the fields of the interface and no others", () => {
    const plain = bodyOf(callbackMessage(source(), answered));
    const grouped = bodyOf(
      callbackMessage(
        source(
          {},
          {
            origin: {
              callerIp: "203.0.113.7",
              hop: 0,
              group: { name: "g", endpointName: "e" },
              scheduleId: "scd_1",
            },
          },
        ),
        failed,
      ),
    );

    expect(Object.keys(plain).toSorted()).toEqual(always.toSorted());
    expect(Object.keys(grouped).toSorted()).toEqual(
      [...always, ...whenApplicable, "dlqId"].toSorted(),
    );
  });

  it("has the answer and the source", () => {
    const message = source(
      {},
      { now, delayMs: 1_000, headers: [["x-trace", "1"]], body: Uint8Array.of(0, 0xff) },
    );

    expect(bodyOf(callbackMessage(message, answered))).toEqual({
      status: 502,
      header: { "X-Why": ["busy", "still"] },
      body: base64("no"),
      retried: 1,
      maxRetries: 3,
      sourceMessageId: message.id,
      url: message.url,
      method: "POST",
      sourceHeader: { "X-Trace": ["1"] },
      sourceBody: "AP8=",
      notBefore: String(now + 1_000),
      createdAt: String(now),
      callerIP: "203.0.113.7",
    });
  });

  it("is JSON whatever headers, names and URLs contain, and its bodies are whole however large", () => {
    const strange = 'é "body":"" \\ \u2028 \u{1F600}';
    const large = new Uint8Array(1024 * 1024 + 1).fill(0xfb);
    const message = source({}, { headers: [["x-strange", strange]], body: large });
    const response = anAnswer(200, { headers: [["x-answer", strange]], body: large });

    const body = bodyOf(callbackMessage(message, { ...answered, response }));

    expect(body).toMatchObject({
      header: { "X-Answer": [strange] },
      sourceHeader: { "X-Strange": [strange] },
    });
    expect([body["body"], body["sourceBody"]]).toEqual([
      Buffer.from(large).toString("base64"),
      Buffer.from(large).toString("base64"),
    ]);
  });

  it("is marked if the answer is not complete", () => {
    const response = anAnswer(200, { body: "ha", truncated: true });

    expect(bodyOf(callbackMessage(source(), { ...answered, response }))).toMatchObject({
      status: 200,
      body: base64("ha"),
      truncated: true,
    });
  });

  it("has status 0 and the reason when there was no answer", () => {
    const silent: CallbackItem = {
      kind: "callback",
      attempt: 0,
      endedAt: now,
      retried: 0,
      error: "no answer",
    };

    expect(bodyOf(callbackMessage(source(), silent))).toMatchObject({
      status: 0,
      header: {},
      body: base64("no answer"),
    });
  });

  it("names the dead letter when it reports a failure", () => {
    expect(bodyOf(callbackMessage(source(), failed))).toMatchObject({
      dlqId: "1-a",
      retried: 3,
      maxRetries: 3,
    });
  });
});

describe("a callback", () => {
  it("is a message of its own, under an id derived from its source and attempt", () => {
    const message = source();

    const callback = callbackMessage(message, answered);
    const failure = callbackMessage(message, failed);

    expect(callback).toMatchObject({
      id: callbackId(message.id, 1),
      tenant: message.tenant,
      dialect: message.dialect,
      url: plan.url,
      method: "POST",
      createdAt: now + 2_000,
      notBefore: now + 2_000,
      origin: {
        callerIp: message.origin.callerIp,
        callbackOf: message.id,
        hop: message.origin.hop,
      },
    });
    expect(failure?.id).toBe(failureCallbackId(message.id));
  });

  it("is the same, byte for byte, however often it is made", () => {
    const message = source();

    expect(callbackMessage(message, answered)).toEqual(callbackMessage(message, answered));
  });

  it("is made only if it was requested", () => {
    const message = aMessage();

    expect(callbackMessage(message, answered)).toBeUndefined();
    expect(callbackMessage(message, failed)).toBeUndefined();
  });

  it("has no callbacks of its own", () => {
    expect(callbackMessage(source(), answered)?.policy).not.toHaveProperty("callback");
    expect(callbackMessage(source(), answered)?.policy).not.toHaveProperty("failureCallback");
  });

  it("inherits retries, retry delay and labels of its source", () => {
    const message = source({ retriesMax: 7, retryDelay: "1000", labels: ["a"] });

    expect(callbackMessage(message, answered)?.policy).toMatchObject({
      retriesMax: 7,
      retryDelay: "1000",
      labels: ["a"],
    });
  });

  it("uses its own settings if they were given", () => {
    const own: CallbackPlan = {
      ...plan,
      method: "PUT",
      headers: [["Authorization", "secret"]],
      delayMs: 5_000,
      timeoutMs: 1_000,
      retriesMax: 0,
      retryDelay: "5",
      labels: ["own"],
      flow: { key: "callbacks", limits: { rate: 1, periodMs: 1_000 } },
    };

    const callback = callbackMessage(source({ callback: own, retriesMax: 7 }), answered);

    const lane = flowLaneId(source().tenant, "callbacks");
    expect(callback).toMatchObject({
      method: "PUT",
      notBefore: now + 7_000,
      flow: lane,
      shard: shardOf(lane),
      policy: { timeoutMs: 1_000, retriesMax: 0, retryDelay: "5", labels: ["own"] },
    });
    expect(callback?.headers).toEqual([
      ["Content-Type", "application/json"],
      ["Authorization", "secret"],
    ]);
  });

  it("is JSON unless its headers say otherwise", () => {
    const callback: CallbackPlan = { ...plan, headers: [["content-type", "text/plain"]] };

    expect(callbackMessage(source(), answered)?.headers).toEqual([
      ["Content-Type", "application/json"],
    ]);
    expect(callbackMessage(source({ callback }), answered)?.headers).toEqual([
      ["content-type", "text/plain"],
    ]);
  });

  it("hides its body in every read when its source hides anything, since it holds the source", () => {
    const message = source({ redaction: { body: false, headers: ["authorization"] } });

    expect(callbackMessage(message, answered)?.policy.redaction).toEqual({
      body: true,
      headers: ["authorization"],
    });
    expect(callbackMessage(source(), answered)?.policy).not.toHaveProperty("redaction");
  });
});

describe("grouped headers", () => {
  it("have canonical names, one for each, with their values in order", () => {
    const headers = [
      ["x-a", "1"],
      ["CONTENT-type", "t"],
      ["X-A", "2, 3"],
    ] as const;

    expect(groupedHeaders(headers)).toEqual({ "X-A": ["1", "2, 3"], "Content-Type": ["t"] });
    expect(canonicalName("www-authenticate")).toBe("Www-Authenticate");
  });

  it("may be called like properties of every object", () => {
    const grouped = groupedHeaders([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);

    expect(JSON.stringify(grouped)).toBe('{"__proto__":["a"],"Constructor":["b"]}');
    expect(Object.getPrototypeOf(grouped)).toBe(Object.prototype);
  });
});
