import { describe, expect, it, jest } from "@jest/globals";
import {
  acceptNamed,
  alarmSources,
  type Configuration,
  flowLaneId,
  type Headers,
  limits,
  messageId,
  shardCount,
  tenantId,
} from "@posthaste/domain";
import { type Hint, type SettledEvent, type Topics, type WakeEvent } from "@posthaste/ports";
import { aMessage, anAnswer, anOwner } from "@posthaste/testing";
import fc from "fast-check";
import { decode, encode, join } from "./codec.ts";
import { aHint, aSettled } from "./events.fixture.ts";

// Properties are tried a hundred times, even on a busy host.
jest.setTimeout(60_000);

const text = fc.string({ minLength: 1, unit: "binary" });
const anyText = fc.string({ unit: "binary" });
const count = fc.nat();
const time = fc.integer({ min: 0, max: 4e12 });
const headers: fc.Arbitrary<Headers> = fc.array(fc.tuple(anyText, anyText), { maxLength: 5 });
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

const hints: fc.Arbitrary<Hint> = fc.record({
  id: text.map(messageId),
  tenant: text.map(tenantId),
  origin: count,
  epoch: count,
  bytes: count,
});

const alarm = { shard: fc.nat({ max: shardCount - 1 }), at: time };
const wakes: fc.Arbitrary<WakeEvent> = fc.oneof(
  fc.record({ ...alarm, lane: text.map((key) => flowLaneId(tenantId("t"), key)) }),
  fc.record({ ...alarm, source: fc.constantFrom(...alarmSources, "any" as const) }),
);

const configurations: fc.Arbitrary<Configuration> = fc.record(
  {
    id: text.map(messageId),
    tenant: text.map(tenantId),
    dialect: fc.constantFrom("service" as const, "upstash" as const),
    shard: fc.nat({ max: shardCount - 1 }),
    createdAt: time,
    notBefore: time,
    url: text,
    method: fc.constantFrom("GET" as const, "POST" as const),
    headers,
    policy: fc.record({ timeoutMs: count, retriesMax: count, labels: fc.array(anyText) }),
    origin: fc.record({ callerIp: anyText, hop: count }),
    bodyOf: text.map(messageId),
    flow: text.map((key) => flowLaneId(tenantId("t"), key)),
  },
  {
    requiredKeys: [
      "id",
      "tenant",
      "dialect",
      "shard",
      "createdAt",
      "notBefore",
      "url",
      "method",
      "headers",
      "policy",
      "origin",
    ],
  },
);

const answers = fc.record({
  status: fc.integer({ min: 100, max: 599 }),
  headers,
  body: fc.uint8Array({ maxLength: 300 }),
  truncated: fc.boolean(),
});

const settleds: fc.Arbitrary<SettledEvent> = fc
  .record({
    id: text.map(messageId),
    message: configurations,
    attempt: count,
    startedAt: optional(time),
    endedAt: time,
    ended: fc.constantFrom(
      "delivered" as const,
      "retry" as const,
      "failed" as const,
      "canceled" as const,
    ),
    nextDeliveryAt: optional(time),
    error: optional(anyText),
    response: optional(answers),
  })
  .map(({ id, message, nextDeliveryAt, error, response, ...fact }) => ({
    id,
    message,
    fact: {
      kind: "fact",
      id,
      ...fact,
      ...(nextDeliveryAt !== undefined && { nextDeliveryAt }),
      ...(error !== undefined && { error }),
      ...(response && { response }),
    },
  }));

describe("an event arrives as it was published", () => {
  it("hints", () => {
    fc.assert(fc.property(hints, (event) => sameAfterTravel("message.due", event)));
  });

  it("wakes", () => {
    fc.assert(fc.property(wakes, (event) => sameAfterTravel("scheduler.wake", event)));
  });

  it("a wake without a source, or with an unknown source, as a wake about any", () => {
    const alarm = { shard: 7, at: 1 };
    const said = [alarm, { ...alarm, source: "reminder" }].map((e) =>
      decode("scheduler.wake", Buffer.from(JSON.stringify({ v: 1, t: "scheduler.wake", e }))),
    );

    const heard = { kind: "events", events: [{ ...alarm, source: "any" }] };
    expect(said).toEqual([heard, heard]);
  });

  it("accepted messages", () => {
    fc.assert(
      fc.property(configurations, (message) => sameAfterTravel("message.accepted", { message })),
    );
  });

  it("hints that have the record, with the bytes of its body, and not where they were said", () => {
    fc.assert(
      fc.property(hints, fc.uint8Array({ maxLength: 300 }), (given, body) => {
        const record = acceptNamed(aMessage({ body }), anOwner, 1_000);
        const hint = { ...given, record };
        const decoded = decode("message.due", encode("message.due", { ...hint, to: 7 }));
        expect(decoded).toEqual({ kind: "events", events: [hint] });
      }),
    );
  });

  it.each([
    ["no state", { state: undefined }],
    ["a message without its body", { message: { ...aMessage(), body: undefined } }],
  ])("no hint whose record has %s", (_, wrong) => {
    const { body: __, ...message } = aMessage();
    const packed = { ...acceptNamed(aMessage(), anOwner, 1), message: { ...message, body: "" } };
    const value = { v: 1, t: "message.due", e: { ...aHint(), record: { ...packed, ...wrong } } };
    expect(decode("message.due", Buffer.from(JSON.stringify(value))).kind).toBe("unreadable");
  });

  it("hints, many in one", () => {
    fc.assert(
      fc.property(fc.array(hints, { minLength: 1, maxLength: 9 }), (events) => {
        const value = join(
          "message.due",
          events.map((event) => encode("message.due", event)),
        );
        expect(decode("message.due", value)).toEqual({ kind: "events", events });
      }),
    );
  });

  it("facts, with the bytes of the answer", () => {
    fc.assert(fc.property(settleds, (event) => sameAfterTravel("message.settled", event)));
  });
});

it("an answer is carried as far as the log keeps it, and marked as cut", () => {
  const body = new Uint8Array(limits.logResponseBytesMax + 1).fill(7);

  const decoded = decode(
    "message.settled",
    encode("message.settled", aSettled({ ended: "retry", response: anAnswer(500, { body }) })),
  );

  const response = decoded.kind === "events" ? decoded.events[0]?.fact.response : undefined;
  expect(Buffer.compare(response?.body ?? body, body.subarray(1))).toBe(0);
  expect(response?.truncated).toBe(true);
});

it("the body of a message does not travel, whatever the caller hands over", () => {
  const said = aSettled();
  const careless = { ...said, message: { ...said.message, body: new Uint8Array([1, 2, 3]) } };

  const travelling = encode("message.settled", careless).toString();

  expect(travelling).not.toContain('"body"');
});

describe("an unreadable event is decoded as unreadable", () => {
  const hint = aHint();
  const envelope = (changes: object): Buffer =>
    Buffer.from(JSON.stringify({ v: 1, t: "message.due", e: hint, ...changes }));

  it.each([
    ["nothing", null, "value is missing"],
    ["no JSON", Buffer.from("{"), "not a JSON object"],
    ["JSON that is no object", Buffer.from("[1]"), "not a JSON object"],
    ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x00]), "not a JSON object"],
    ["another version", envelope({ v: 3 }), "version"],
    ["many that are none", envelope({ v: 2, es: [] }), "not a message.due event"],
    ["many of which one is none", envelope({ v: 2, es: [hint, {}] }), "not a message.due event"],
    ["many that are no list", envelope({ v: 2, es: hint }), "not a message.due event"],
    ["no version", envelope({ v: undefined }), "version"],
    ["another topic", envelope({ t: "message.settled" }), "topic"],
    ["no event", envelope({ e: undefined }), "not a message.due event"],
    [
      "a hint without an id",
      envelope({ e: { ...hint, id: undefined } }),
      "not a message.due event",
    ],
    [
      "a hint whose epoch is a text",
      envelope({ e: { ...hint, epoch: "3" } }),
      "not a message.due event",
    ],
    [
      "a hint of less than nothing",
      envelope({ e: { ...hint, bytes: -1 } }),
      "not a message.due event",
    ],
  ])("%s", (_, value, reason) => {
    const decoded = decode("message.due", value);

    expect(decoded).toEqual({ kind: "unreadable", reason: expect.stringContaining(reason) });
  });

  it("a wake of a shard that does not exist", () => {
    const value = encode("scheduler.wake", { shard: shardCount, at: 1, source: "any" });

    expect(decode("scheduler.wake", value).kind).toBe("unreadable");
  });

  it("a fact without its outcome, or with an answer that has no body", () => {
    const { fact, ...rest } = aSettled();
    const half = { ...rest, fact: { ...fact, ended: undefined } };
    const bodiless = { ...rest, fact: { ...fact, response: { status: 500, headers: [] } } };

    for (const event of [half, bodiless]) {
      const value = Buffer.from(JSON.stringify({ v: 1, t: "message.settled", e: event }));
      expect(decode("message.settled", value).kind).toBe("unreadable");
    }
  });

  it("any bytes at all, without an exception", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(decode("message.settled", Buffer.from(bytes)).kind).toBe("unreadable");
      }),
    );
  });

  it("any JSON at all, without an exception", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (event) => {
        const value = Buffer.from(JSON.stringify({ v: 1, t: "message.settled", e: event }));
        expect(decode("message.settled", value).kind).toBe("unreadable");
      }),
    );
  });
});

it("the reason why something cannot be read quotes nothing of it", () => {
  const secret = "s3cr3t";
  const value = Buffer.from(JSON.stringify({ v: secret, t: secret, e: { id: secret } }));

  expect(JSON.stringify(decode("message.due", value))).not.toContain(secret);
});

function sameAfterTravel<T extends keyof Topics>(topic: T, event: Topics[T]): void {
  expect(decode(topic, encode(topic, event))).toEqual({ kind: "events", events: [event] });
}
