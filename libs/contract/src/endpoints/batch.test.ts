import { describe, expect, it } from "@jest/globals";
import { defaultPlan, type Fault, fault, isFault, standardUrl } from "@posthaste/domain";
import * as fc from "fast-check";
import { pause } from "../bodies/pause.ts";
import { parseContext as allowing } from "../headers/publish-input.fixture.ts";
import { counted, fuzzRuns, hostileText } from "../hostile.fixture.ts";
import { type BatchItem, type BatchContext, readBatch } from "./batch.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const context: BatchContext = {
  ...allowing,
  readUrl: (url) =>
    url.includes("127.0.0.1")
      ? fault("malformed", "invalid destination url: loopback")
      : standardUrl(url),
};
const readAll = (body: string | Uint8Array, changed: Partial<BatchContext> = {}) => [
  ...readBatch(typeof body === "string" ? bytes(body) : body, { ...context, ...changed }),
];
const read = (body: string | Uint8Array, changed: Partial<BatchContext> = {}) =>
  readAll(body, changed).filter((item) => item !== pause);
const items = (...given: readonly unknown[]) => JSON.stringify(given);
const commands = (body: string) =>
  read(body).map((item) => {
    if (isFault(item)) throw new Error(item.text);
    return item.command;
  });
/** Returns the fault that comes last, and how many good items came before it. */
function refused(body: string | Uint8Array, changed: Partial<BatchContext> = {}) {
  const all = read(body, changed);
  const last = all.at(-1);
  if (!last || !isFault(last)) throw new Error("accepted");
  return { code: last.fault, text: last.text, before: all.length - 1 };
}

const destination = "https://a.b/c";
const good = { destination };
const goodItem = JSON.stringify(good);

describe("an item of a batch", () => {
  it("is a publish like any other", () => {
    const [command] = commands(
      items({
        destination: "https://a.b/?x=1//",
        headers: {
          "upstash-retries": "5",
          "UPSTASH-Method": "PUT",
          "content-type": "application/json",
          "Upstash-Forward-X": ["1", "2"],
        },
        body: '{"é":"\u{1f600}"}',
      }),
    );

    expect(command).toMatchObject({
      dialect: "upstash",
      destination: { kind: "url", url: "https://a.b/?x=1//" },
      method: "PUT",
      headers: [
        ["Content-Type", "application/json"],
        ["X", "1"],
        ["X", "2"],
      ],
      body: bytes('{"é":"\u{1f600}"}'),
      policy: { retriesMax: 5 },
    });
  });

  it("goes to a group when it names one, and needs nothing but a destination", () => {
    const [first, second] = commands(items({ destination: "my-group" }, good));

    expect(first).toMatchObject({
      destination: { kind: "group", name: "my-group" },
      dialect: "service",
      body: new Uint8Array(),
    });
    expect(second?.destination).toEqual({ kind: "url", url: destination });
  });

  it.each([null, undefined])("takes %p as absent", (none) => {
    const [command] = commands(items({ destination, headers: none, body: none, queue: none }));

    expect(command).toEqual(commands(items(good))[0]);
  });

  it("gets into the queue that it names, by its field or by its header", () => {
    const queues = commands(
      items({ ...good, queue: "q" }, { ...good, headers: { "Upstash-Queue-Name": "r" } }, good),
    ).map(({ queue }) => queue);

    expect(queues).toEqual(["q", "r", undefined]);
  });

  it("may name no queue with an empty text, as some clients do", () => {
    expect(commands(items({ ...good, queue: "" }))).toHaveLength(1);
  });

  it("has the dialect of its own headers", () => {
    const dialects = commands(
      items(
        { ...good, headers: { "Service-Retries": "1" } },
        { ...good, headers: { "Upstash-Retries": "1" } },
      ),
    ).map(({ dialect }) => dialect);

    expect(dialects).toEqual(["service", "upstash"]);
  });
});

describe("a batch", () => {
  it("may be empty, and may have 10,000 items and no more", () => {
    const body = (count: number) => `[${Array(count).fill(JSON.stringify(good)).join(",")}]`;

    expect(read(" [ ] ")).toEqual([]);
    expect(commands(body(10_000))).toHaveLength(10_000);
    expect(refused(body(10_001))).toEqual({
      code: "malformed",
      text: "[10000]: a batch may have at most 10000 items",
      before: 10_000,
    });
  });

  it("is parsed no further than its first fault", () => {
    let judged = 0;
    const readUrl = (url: string) => {
      judged++;
      return url;
    };

    refused(items(good, { destination: 5 }, good, good), { readUrl });

    // The first two items are checked by their own rules and by those of any publish.
    expect(judged).toBe(2);
  });

  it.each<[string, string]>([
    ["", "body: must be a JSON array"],
    ["{}", "body: must be a JSON array"],
    ["null", "body: must be a JSON array"],
    ["[", "[0]: must be JSON in UTF-8"],
    ["[}", "[0]: must be JSON in UTF-8"],
    ["[,]", "[0]: must be JSON in UTF-8"],
    ["[5,]", "[0]: must be an object"],
    ["[[]]", "[0]: must be an object"],
    ["[null]", "[0]: must be an object"],
    [`[${"[".repeat(100)}`, "[0]: must not nest deeper than 32"],
    [items({}), "[0].destination: must be a string"],
    [items(good, { destination: "" }), "[1].destination: a non-empty destination must be provided"],
    [
      items(good, { destination: "ftp://a.b" }),
      "[1].destination: invalid destination url: endpoint has invalid scheme, add http:// or https://",
    ],
    [
      items(good, { destination: "http://127.0.0.1/" }),
      "[1].destination: invalid destination url: loopback",
    ],
    [items({ ...good, body: 5 }), "[0].body: must be a string"],
    [items({ ...good, body: { a: 1 } }), "[0].body: must be a string"],
    ['[{"destination":"https://a.b","body":"\\ud800"}]', "[0].body: must be well-formed Unicode"],
    [items({ ...good, queue: 5 }), "[0].queue: must be a string"],
    [
      items(good, { ...good, queue: "a b" }),
      "[1].queue: letters, digits, '-', '_' and '.' only, at most 128 characters",
    ],
    [
      items({ ...good, queue: "q", headers: { "Service-Queue-Name": "r" } }),
      "[0].headers: Service-Queue-Name: the target names the queue q, this header names another one",
    ],
    [items({ ...good, headers: [] }), "[0].headers: must be an object"],
    [items({ ...good, headers: "a: b" }), "[0].headers: must be an object"],
    [
      items({ ...good, headers: { "Upstash-Delay": 5 } }),
      "[0].headers.Upstash-Delay: must be a string or an array of them",
    ],
    [
      items(good, good, { ...good, headers: { "Upstash-Delay": "soon" } }),
      "[2].headers: Upstash-Delay: must be a duration such as 30s, 5m or 1h30m (units s, m, h, d)",
    ],
    [
      items({ ...good, headers: { "Upstash-Delay": ["1s", "2s"] } }),
      "[0].headers: Upstash-Delay: must be given once",
    ],
    [
      items({ ...good, headers: { "Upstash-Delay": "1s", "upstash-delay": "1s" } }),
      "[0].headers: upstash-delay: must be given once",
    ],
    [
      items({ ...good, headers: { "Upstash-Delay": "1s", "Service-Retries": "1" } }),
      "[0].headers: Upstash-Delay and Service-Retries: one request must not mix both prefixes",
    ],
    [
      items({ ...good, headers: { "Upstash-Cron": "* * * * *" } }),
      "[0].headers: Upstash-Cron: a publish makes no schedule: the message would be sent now, and once",
    ],
    [
      items({ ...good, delay: "1h" }),
      '[0]: unknown field "delay"; known names: destination, headers, body, queue',
    ],
    [items({ ...good, headers: { "a b": "c" } }), '[0].headers: "a b" is not a header name'],
    [
      items({ ...good, headers: { "Upstash-Callback": "https://a.b\n" } }),
      "[0].headers: Upstash-Callback: must not hold control characters",
    ],
    [`[{"a":[${"0,".repeat(2_000)}0]}]`, "[0]: must hold at most 1024 values"],
  ])("%j is refused: %s", (body, text) => {
    expect(refused(body)).toMatchObject({ code: "malformed", text });
  });

  it("412 names the item that is beyond the plan", () => {
    expect(refused(items(good, { ...good, headers: { "Service-Delay": "9999d" } }))).toEqual({
      code: "beyond_plan",
      text: "[1].headers: quota maxDelay exceeded, current limit: 31536000",
      before: 1,
    });
  });

  it("413 names the item whose body is too large, however much JSON makes of it", () => {
    const plan = { ...defaultPlan, bodyBytesMax: 100 };
    const text = "[1].body: quota maxMessageSize exceeded: the body may have at most 100 bytes";
    const with0 = (count: number) => items(good, { ...good, body: "\0".repeat(count) });

    expect(read(with0(100), { plan })).toHaveLength(2);
    expect(refused(with0(101), { plan })).toEqual({ code: "too_large", text, before: 1 });
    expect(refused(items(good, { ...good, body: "é".repeat(51) }), { plan }).text).toBe(text);
  });

  it("has its whole body, however long its JSON is, and is read with pauses", () => {
    const body = '\u{1f600}\n\0é"\\/'.repeat(100_000);
    const all = readAll(items(good, { ...good, body }, good));

    const [, long] = all.filter((item) => item !== pause);
    expect(long).toMatchObject({ command: { body: bytes(body) } });
    expect([all[0], ...all.slice(-2)].map((item) => item === pause)).toEqual([false, false, false]);
    expect(all.slice(1, -2).every((item) => item === pause)).toBe(true);
  });

  it("413 does not make the body of an item that is too large", () => {
    const plan = { ...defaultPlan, bodyBytesMax: 500_000 };
    const { list, reads } = counted(bytes(items({ ...good, body: "é".repeat(250_001) })));

    expect(refused(list, { plan })).toMatchObject({ code: "too_large" });
    expect(reads()).toBeLessThanOrEqual(readsOfByteMax * list.length);
  });

  it("413 does not look at the whole of an item that is longer than any may be", () => {
    const plan = { ...defaultPlan, bodyBytesMax: 100 };
    const long = bytes(`[{"destination":"https://a.b","body":"${"x".repeat(1_000_000)}`);

    const { code, text } = refused(long, { plan });

    expect(code).toBe("too_large");
    expect(text).toBe("[0]: must be at most 66136 bytes");
  });

  it("is read or refused by item and field, whatever it holds, and each byte is looked at a few times", () => {
    const header = fc.tuple(
      fc.constantFrom(..."Service-Delay Upstash-Retries Upstash-Forward-X a __proto__".split(" ")),
      fc.oneof(hostileText(valuePieces, 4), fc.jsonValue({ maxDepth: 1 })),
    );
    const item = fc
      .record(
        {
          destination: fc.oneof(fc.constant(destination), hostileText(valuePieces, 6)),
          headers: fc.array(header, { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
          body: fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 1 })),
          queue: hostileText(valuePieces, 2),
        },
        { requiredKeys: ["destination"] },
      )
      .map((value) => JSON.stringify(value));
    const part = fc.oneof(item, fc.constant(goodItem), hostileText(jsonPieces));
    const body = fc.oneof(
      {
        arbitrary: fc
          .tuple(fc.constantFrom(0, 0, 0, 40), fc.array(part, { maxLength: 5 }))
          .map(
            ([count, parts]) => `[${[...Array<string>(count).fill(goodItem), ...parts].join(",")}]`,
          ),
        weight: 6,
      },
      { arbitrary: hostileText(jsonPieces, 40), weight: 2 },
      { arbitrary: hostileText(jsonPieces, 3).map((text) => `[${text.repeat(200)}`), weight: 1 },
    );
    const named = /^\[(\d+)\](\.(destination|headers|body|queue)\b[^]*)?: /;

    fc.assert(
      fc.property(body, fc.uint8Array({ maxLength: 2 }), (text, end) => {
        const whole = new Uint8Array([...bytes(text), ...end]);
        const { list, reads } = counted(whole);

        const all: readonly (BatchItem | Fault)[] = read(list);

        expect(reads()).toBeLessThanOrEqual(readsOfByteMax * whole.length + 1);
        for (const [index, one] of all.entries())
          if (isFault(one)) {
            expect(index).toBe(all.length - 1);
            if (one.text !== "body: must be a JSON array")
              expect(named.exec(one.text)?.[1]).toBe(String(index));
          }
      }),
      { numRuns: fuzzRuns },
    );
  });
});

/** A byte is read by the scanner, as space on either side of a part, and in a part that is parsed. */
const readsOfByteMax = 4;

const valuePieces = [
  ...'https:// http:// 127.0.0.1 a.b group @ : / ? # % 1s 3 9999d , ; = true " \\'.split(" "),
  " ",
  "\0",
  "\r\n",
  "\ud800",
  "é",
];
const jsonPieces = [
  ...'[ [ ] ] { } , , : " " \\ \\" \\ud800 0 -1 1e999 true null "destination" "headers" "body" [[[[[[[['.split(
    " ",
  ),
  "\u{feff}",
  " ",
  "\n",
  "\0",
  "é",
];
