import { describe, expect, it } from "@jest/globals";
import { defaultPlan, isFault } from "@posthaste/domain";
import * as fc from "fast-check";
import { counted, fuzzRuns, hostileText } from "../hostile.fixture.ts";
import { parseOverrides } from "./parse-publish.ts";
import { now } from "./publish-input.fixture.ts";
import { headerRules } from "./table.ts";

const overridesOf = (headers: Readonly<Record<string, string>>) =>
  overridesOfFlat(Object.entries(headers).flat());
const overridesOfFlat = (rawHeaders: readonly string[]) =>
  parseOverrides({
    rawHeaders,
    plan: defaultPlan,
    now,
    checkRetryDelay: () => undefined,
    spendExpression: () => undefined,
    readUrl: (given) => given,
    leaveOut: () => undefined,
  });

describe("the headers of a retry", () => {
  it("change nothing when no header is ours", () => {
    expect(overridesOf({ "content-type": "application/json", accept: "*/*" })).toEqual({
      headers: [],
      policy: {},
    });
  });

  it.each(["Service-", "Upstash-"])("name what they change, with the prefix %s", (prefix) => {
    const given = {
      Method: "PUT",
      Retries: "7",
      Timeout: "30s",
      "Retry-Delay": "1000",
      Label: "again",
      Delay: "1m",
      Callback: "https://example.com/cb",
      "Failure-Callback": "https://example.com/fcb",
      "Flow-Control-Key": "k",
      "Flow-Control-Value": "parallelism=2",
      "Redact-Fields": "body",
      "Forward-X-New": "1",
    };
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [prefix + name, value]),
    );

    expect(overridesOf(headers)).toEqual({
      method: "PUT",
      headers: [["X-New", "1"]],
      policy: {
        retriesMax: 7,
        timeoutMs: 30_000,
        retryDelay: "1000",
        labels: ["again"],
        callback: expect.objectContaining({ url: "https://example.com/cb" }),
        failureCallback: expect.objectContaining({ url: "https://example.com/fcb" }),
        redaction: { body: true, headers: [] },
      },
      flow: { key: "k", limits: { parallelism: 2, periodMs: 1_000 } },
      postponement: { kind: "delay", delayMs: 60_000 },
    });
  });

  it.each([
    [{ "Service-Flow-Control-Key": "k" }, { key: "k" }],
    [{ "Service-Flow-Control-Value": "rate=2" }, { limits: { rate: 2, periodMs: 1_000 } }],
  ])("change key and limits of flow control each on its own: %j", (headers, flow) => {
    expect(overridesOf(headers)).toEqual({ headers: [], policy: {}, flow });
  });

  it.each([
    [{ "Service-Retries": "x" }, "Service-Retries"],
    [{ "Service-Flow-Control-Value": "rate=0" }, "Flow-Control-Value"],
    [{ "Upstash-Deduplication-Id": "a" }, "Deduplication-Id"],
    [{ "Service-Queue-Name": "q" }, "Queue-Name"],
    [{ "Service-Content-Based-Deduplication": "true" }, "Content-Based-Deduplication"],
    [{ "Service-Header-Forward": "true" }, "Header-Forward"],
    [{ "Service-Retries": "1", "Upstash-Timeout": "1s" }, "Upstash-Timeout"],
  ])("that are wrong are named: %j", (headers, name) => {
    const refused = overridesOf(headers);

    expect(isFault(refused) && refused.text).toContain(name);
  });

  it("are read or refused by name, whatever they hold, and each is looked at once", () => {
    const suffixes = headerRules.map(({ suffix }) => suffix.replace("*", "X"));
    const suffix = fc.oneof(
      { arbitrary: fc.constantFrom(...suffixes), weight: 4 },
      { arbitrary: hostileText([...suffixes, "Forward-", "Callback-"], 3), weight: 1 },
    );
    const header = fc.tuple(
      fc.constantFrom("Service-", "Service-", "Service-", "upstash-", ""),
      suffix,
      hostileText(valuePieces),
      fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 400),
    );
    // A fault beyond the plan names its quota, and one fault is worded as clients of QStash know it.
    const fields = new RegExp(
      `^(${[...suffixes, "Forward-\\*"].join("|")}): |^quota \\w+ exceeded|^DeduplicationId `,
      "i",
    );

    fc.assert(
      fc.property(fc.array(header, { maxLength: 6 }), (given) => {
        const headers = given.flatMap(([prefix, name, value, times]) => [
          prefix + name,
          value.repeat(times),
        ]);
        const { list, reads } = counted(headers);

        const overrides = overridesOfFlat(list);

        expect(reads()).toBeLessThanOrEqual(headers.length);
        const { length } = headers.join("");
        expect(JSON.stringify(overrides).length).toBeLessThanOrEqual(
          escapedLengthMax * length + wordsLengthMax,
        );
        if (!isFault(overrides)) return;
        const names = headers.filter((_, i) => i % 2 === 0);
        const { text } = overrides;
        const isNamed = names.some((name) => name !== "" && text.startsWith(name));
        expect(isNamed || fields.test(text) ? "" : text).toBe("");
      }),
      { numRuns: fuzzRuns },
    );
  });
});

/** Allows six characters in JSON for each of the text, and the parser's own words. */
const escapedLengthMax = 6;
const wordsLengthMax = 1_024;

const valuePieces = [
  ..."0 9 1 , = . - : / ; + [ ] ( ) { } * ^ % s m h d".split(" "),
  ..." true false POST PUT TRACE rate= period= parallelism= body header header[ header[x]".split(
    " ",
  ),
  ..."https:// http:// a.b @ retried pow( 1e999 NaN Infinity 99999999999 __proto__".split(" "),
  " ",
  "\t",
  "\0",
  "\r\n",
  "\ud800",
  "é",
];
