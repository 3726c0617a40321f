import { describe, expect, it } from "@jest/globals";
import { type Fault, defaultPlan, fault } from "@posthaste/domain";
import { accepted, now, publish, refused } from "./publish-input.fixture.ts";
import { headerRules } from "./table.ts";

const prefixes = ["Service-", "Upstash-"] as const;

function goodValue(suffix: string): string {
  const name = suffix.replace(/^(Failure-)?Callback-/, "");
  const good: Readonly<Record<string, string>> = {
    Method: "GET",
    Timeout: "1s",
    Retries: "1",
    "Retry-Delay": "1",
    Delay: "1s",
    Label: "a",
    "Flow-Control-Key": "k",
    "Flow-Control-Value": "rate=1",
    "Not-Before": "1",
    "Queue-Name": "q",
    "Deduplication-Id": "a",
    "Content-Based-Deduplication": "true",
    "Redact-Fields": "body",
    "Header-Forward": "false",
    Hop: "1",
    Cron: "* * * * *",
    "Schedule-Id": "scd_1",
    "Dry-Run": "true",
    "Workflow-RunId": "run",
    "Workflow-Init": "true",
    "Workflow-CreatedAt": "1",
    "Workflow-Invoke": "true",
    "Workflow-Trigger-By-Sdk": "true",
  };
  return good[name] ?? "https://example.com";
}

describe("a publish without configuration", () => {
  it("is a POST with the plan's retries and timeout, sent now in the tenant's dialect", () => {
    expect(accepted({}, { defaultDialect: "upstash" })).toEqual({
      tenant: "tenant",
      dialect: "upstash",
      destination: { kind: "url", url: "https://example.com/hook" },
      method: "POST",
      headers: [],
      body: new Uint8Array(),
      policy: { timeoutMs: defaultPlan.timeoutMsDefault, retriesMax: 3, labels: [] },
      callerIp: "192.0.2.7",
      hop: 1,
    });
  });

  it("has no longer timeout than the plan's bound, where its default is beyond that", () => {
    const plan = { ...defaultPlan, timeoutMsMax: 60_000 };

    expect(accepted({}, { plan }).policy.timeoutMs).toBe(60_000);
  });

  it("forwards its Content-Type and no other header", () => {
    const command = accepted({ "content-type": "text/plain", Accept: "*/*", Cookie: "a=b" });

    expect(command.headers).toEqual([["Content-Type", "text/plain"]]);
  });

  it("forwards its headers about the body, unless they are forwarded by name", () => {
    const others = { "Content-Language": "de", "Content-Type": "a/b" };
    const shown = Object.entries(others);
    const given = { "content-encoding": "gzip", ...others };
    const byName = { ...given, "Service-Forward-content-encoding": "br" };

    expect(accepted(given).headers).toEqual([["Content-Encoding", "gzip"], ...shown]);
    expect(accepted(byName).headers).toEqual([...shown, ["content-encoding", "br"]]);
  });

  it("is refused when its destination is, in the destination's own words", () => {
    const readUrl = (url: string, field: string) => fault("malformed", `${field} ${url}`);

    expect(refused({}, { readUrl }).text).toBe("destination https://example.com/hook");
  });
});

describe("the dialect", () => {
  it.each([
    [{ "Upstash-Retries": "1" }, "upstash"],
    [{ "service-retries": "1" }, "service"],
    [{ "Upstash-Telemetry-Sdk": "js, js" }, "upstash"],
    [{ "Upstash-Something-New": "x" }, "upstash"],
  ] as const)("of %j is %s", (headers, dialect) => {
    const other = dialect === "service" ? "upstash" : "service";

    expect(accepted(headers, { defaultDialect: other }).dialect).toBe(dialect);
  });

  it("is recognized by configuration in the query, too", () => {
    const command = accepted({}, { queryConfig: ["upstash-retries", "2"] });

    expect(command).toMatchObject({ dialect: "upstash", policy: { retriesMax: 2 } });
  });

  it("cannot be both: one header of each is named", () => {
    const { fault: code, text } = refused({ "Service-Retries": "1", "Upstash-Telemetry-Sdk": "x" });

    expect(code).toBe("malformed");
    expect(text).toContain("Service-Retries");
    expect(text).toContain("Upstash-Telemetry-Sdk");
  });
});

describe.each(prefixes)("with the prefix %s", (prefix) => {
  const one = (suffix: string, value: string) => ({ [prefix + suffix]: value });

  it.each([
    "Callback-x",
    "Feature-Set",
    "Workflow-Sdk-Version",
    "Telemetry-Sdk",
    "Failure-Callback-Nope",
    "Signature",
  ])("the unknown header %s is ignored", (suffix) => {
    expect(accepted(one(suffix, "anything")).headers).toEqual([]);
  });

  describe("names a queue", () => {
    const named = (queue: string | undefined, name = "orders") =>
      publish(one("Queue-Name", name), { queue });

    it("that the message gets into", () => {
      expect(accepted(one("Queue-Name", "orders")).queue).toBe("orders");
      expect(accepted({}, { queue: "orders" }).queue).toBe("orders");
      expect(named("orders")).toMatchObject({ queue: "orders" });
    });

    it.each(["", "a b", "a/b", "..", "x".repeat(129)])("but not %p", (name) => {
      expect(refused(one("Queue-Name", name)).text).toContain(`${prefix}Queue-Name: letters`);
    });

    it("that all messages of a URL group get into", () => {
      const group = { destination: { kind: "group", name: "g" } } as const;

      expect(accepted(one("Queue-Name", "orders"), group).queue).toBe("orders");
    });

    it("but not two", () => {
      expect(named("another")).toMatchObject({ fault: "malformed" });
    });
  });

  it.each(["Cron", "Schedule-Id", "Dry-Run"])(
    "%s is refused by name, in a header and in the query, since ignoring it would change the meaning",
    (suffix) => {
      const name = prefix + suffix;
      const refusal = { fault: "malformed", text: expect.stringContaining(`${name}: `) };

      expect(refused(one(suffix, goodValue(suffix)))).toEqual(refusal);
      expect(refused({}, { queryConfig: [name, goodValue(suffix)] })).toEqual(refusal);
    },
  );

  // Workflow clients give these in two lines.
  const single = headerRules.filter(
    ({ suffix }) => !suffix.endsWith("*") && !["Feature-Set", "Telemetry-Sdk"].includes(suffix),
  );

  it.each(single.map(({ suffix }) => suffix))("two copies of %s are refused", (suffix) => {
    const good = goodValue(suffix);

    expect(refused([prefix + suffix, good, (prefix + suffix).toLowerCase(), good])).toEqual({
      // A step of a run is never answered `malformed`, which its client would take for the end of the run.
      fault: suffix === "Workflow-RunId" ? "run_refused" : "malformed",
      text: `${(prefix + suffix).toLowerCase()}: must be given once`,
    });
  });

  it.each([
    ["Method", "get"],
    ["Method", "CONNECT"],
    ["Method", "TRACE"],
    ["Method", "POST,GET"],
    ["Method", ""],
    ["Timeout", "0s"],
    ["Timeout", "1.5h"],
    ["Timeout", "-1s"],
    ["Timeout", "1w"],
    ["Timeout", "9".repeat(100_000)],
    ["Timeout", "1s".repeat(100_000)],
    ["Retries", "-1"],
    ["Retries", "1.0"],
    ["Retries", "1e1"],
    ["Retries", "+1"],
    ["Retries", "0x1"],
    ["Retries", "１"],
    ["Retries", ""],
    ["Retry-Delay", "1+".repeat(200)],
    ["Delay", "soon"],
    ["Delay", "1h 1m"],
    ["Not-Before", "1700000000000"],
    ["Not-Before", "-1"],
    ["Not-Before", "1."],
    ["Not-Before", ".5"],
    ["Not-Before", "1.5.1"],
    ["Not-Before", "1,5"],
    ["Not-Before", `1.${"0".repeat(17)}`],
    ["Not-Before", "1e9"],
    ["Not-Before", "tomorrow"],
    ["Label", ","],
    ["Label", "a,,b"],
    ["Label", "a\0b"],
    ["Label", "a\r\nX-Evil: 1"],
    ["Label", "😀"],
    ["Label", "x".repeat(129)],
    ["Label", Array.from({ length: 33 }, (_, i) => `l${i}`).join(",")],
    ["Flow-Control-Key", ""],
    ["Flow-Control-Key", "a\nb"],
    ["Flow-Control-Key", "k".repeat(10_240)],
    ["Flow-Control-Value", "parallelism"],
    ["Flow-Control-Value", "parallelism=0"],
    ["Flow-Control-Value", "rate=0"],
    ["Flow-Control-Value", "rate=1000001"],
    ["Flow-Control-Value", "rate=1.5"],
    ["Flow-Control-Value", "rate=1,rate=2"],
    ["Flow-Control-Value", "period=1m"],
    ["Flow-Control-Value", "rate=1,period=0"],
    ["Flow-Control-Value", "rate=1,period=8d"],
    ["Flow-Control-Value", "rate=1,period=soon"],
    ["Flow-Control-Value", "rate=1,burst=2"],
    ["Flow-Control-Value", "rate=1,parallelism=1,period=1,"],
    ["Flow-Control-Value", ""],
    ["Deduplication-Id", ""],
    ["Deduplication-Id", "a\0"],
    ["Deduplication-Id", "d".repeat(513)],
    ["Content-Based-Deduplication", "yes"],
    ["Content-Based-Deduplication", ""],
    ["Redact-Fields", "header[]"],
    ["Redact-Fields", "header[a]b"],
    ["Redact-Fields", "header[a b]"],
    ["Redact-Fields", "cookies"],
    ["Redact-Fields", ""],
    ["Redact-Fields", Array.from({ length: 1_000 }, () => "body").join(",")],
    ["Header-Forward", "1"],
    ["Hop", "x"],
    ["Callback-Retries", "many"],
    ["Failure-Callback-Method", "HEAD"],
    ["Failure-Callback-Delay", "-5s"],
  ])("%s: %p is refused, naming the header as it was written", (suffix, value) => {
    const written = (prefix + suffix).toUpperCase();

    const { fault: code, text } = refused([written, value]);

    expect(code).toBe("malformed");
    expect(text.startsWith(`${written}: `)).toBe(true);
    // The fault is about the header itself, not about a missing partner.
    expect(text).not.toContain("requires");
  });

  it.each([
    ["Retries", "1001", "quota maxRetries exceeded, current limit: 1000"],
    ["Retries", "2147483648", "quota maxRetries exceeded, current limit: 1000"],
    ["Callback-Retries", "1001", "quota maxRetries exceeded, current limit: 1000"],
    ["Delay", "366d", "quota maxDelay exceeded, current limit: 31536000"],
    ["Callback-Delay", "366d", "quota maxDelay exceeded, current limit: 31536000"],
    [
      "Not-Before",
      String(now / 1_000 + 31_536_001),
      "quota maxDelay exceeded, current limit: 31536000",
    ],
    ["Not-Before", "170000000000", "quota maxDelay exceeded, current limit: 31536000"],
    ["Timeout", "48h1s", "quota maxTimeout exceeded, current limit: 172800"],
    ["Failure-Callback-Timeout", "3d", "quota maxTimeout exceeded, current limit: 172800"],
  ])("%s: %s is beyond the plan", (suffix, value, text) => {
    expect(refused(one(suffix, value))).toEqual({ fault: "beyond_plan", text });
  });

  it.each([
    ["Retries", "0", { policy: { retriesMax: 0 } }],
    ["Retries", "1000", { policy: { retriesMax: 1_000 } }],
    ["Retries", " 2 ", { policy: { retriesMax: 2 } }],
    ["Method", "DELETE", { method: "DELETE" }],
    ["Timeout", "1h1h", { policy: { timeoutMs: 7_200_000 } }],
    ["Timeout", "1d2h", { policy: { timeoutMs: 93_600_000 } }],
    ["Timeout", "48h", { policy: { timeoutMs: 172_800_000 } }],
    ["Timeout", "45", { policy: { timeoutMs: 45_000 } }],
    ["Delay", "1d10h30m", { postponement: { kind: "delay", delayMs: 124_200_000 } }],
    ["Not-Before", "1700000100", { postponement: { kind: "notBefore", at: 1_700_000_100_000 } }],
    // A time as Python's time.time() writes it.
    [
      "Not-Before",
      "1700000100.1239998",
      { postponement: { kind: "notBefore", at: 1_700_000_100_123 } },
    ],
    ["Not-Before", "1700000100.5", { postponement: { kind: "notBefore", at: 1_700_000_100_500 } }],
    ["Not-Before", "0", { postponement: { kind: "notBefore", at: 0 } }],
    ["Label", " a , b c ", { policy: { labels: ["a", "b c"] } }],
    ["Deduplication-Id", "order-1", { deduplication: { kind: "explicit", id: "order-1" } }],
    ["Content-Based-Deduplication", "True", { deduplication: { kind: "content" } }],
    ["Redact-Fields", "body", { policy: { redaction: { body: true, headers: [] } } }],
    ["Redact-Fields", "header", { policy: { redaction: { body: false, headers: "all" } } }],
    ["Redact-Fields", "body, headers", { policy: { redaction: { body: true, headers: "all" } } }],
    [
      "Redact-Fields",
      "header[Authorization],headers[X-Key]",
      { policy: { redaction: { body: false, headers: ["authorization", "x-key"] } } },
    ],
    ["Hop", "7", { hop: 8 }],
  ])("%s: %s is understood", (suffix, value, expected) => {
    expect(accepted(one(suffix, value))).toMatchObject(expected);
  });

  it.each([
    ["parallelism=3, rate=5, period=1m", { parallelism: 3, rate: 5, periodMs: 60_000 }],
    ["period=1h30m3s,rate=1", { rate: 1, periodMs: 5_403_000 }],
    ["parallelism=1000000", { parallelism: 1_000_000, periodMs: 1_000 }],
    [" rate = 2 , period = 30 ", { rate: 2, periodMs: 30_000 }],
    ["rate=1,period=7d", { rate: 1, periodMs: 604_800_000 }],
  ])("the flow control value %p is understood", (value, limits) => {
    const command = accepted({
      ...one("Flow-Control-Key", "key"),
      ...one("Flow-Control-Value", value),
    });

    expect(command.policy.flow).toEqual({ key: "key", limits });
  });

  it.each([
    ["Flow-Control-Key", "k", "Flow-Control-Value"],
    ["Flow-Control-Value", "rate=1", "Flow-Control-Key"],
    ["Callback-Flow-Control-Key", "k", "Callback-Flow-Control-Value"],
  ])("%s alone is refused", (suffix, value, missing) => {
    expect(refused(one(suffix, value))).toEqual(
      fault("malformed", `${prefix}${suffix}: requires ${prefix}${missing}`),
    );
  });

  it("a time wins over a delay, but a malformed delay is still refused", () => {
    const time = one("Not-Before", "1700000100");

    expect(accepted({ ...time, ...one("Delay", "5s") }).postponement).toEqual({
      kind: "notBefore",
      at: 1_700_000_100_000,
    });
    expect(refused({ ...time, ...one("Delay", "5 s") }).text).toContain(`${prefix}Delay`);
  });

  it("a delay of nothing means no delay", () => {
    expect(accepted(one("Delay", "0s"))).not.toHaveProperty("postponement");
  });

  it("an explicit deduplication id wins over the content", () => {
    const command = accepted({
      ...one("Content-Based-Deduplication", "true"),
      ...one("Deduplication-Id", "x"),
    });

    expect(command.deduplication).toEqual({ kind: "explicit", id: "x" });
  });

  it("content-based deduplication can be declined", () => {
    expect(accepted(one("Content-Based-Deduplication", "False"))).not.toHaveProperty(
      "deduplication",
    );
  });

  it("a message that has passed through here eight times is a loop", () => {
    expect(refused(one("Hop", "8")).text).toContain("loop_detected");
  });

  it("the values of a query's configuration count like headers, and not twice", () => {
    const queryConfig = [`${prefix}retries`.toLowerCase(), "1"];

    expect(accepted({}, { queryConfig }).policy.retriesMax).toBe(1);
    expect(refused(one("Retries", "1"), { queryConfig }).text).toBe(
      `${prefix.toLowerCase()}retries: must be given once`,
    );
  });

  describe.each([
    ["Callback", "callback"],
    ["Failure-Callback", "failureCallback"],
  ] as const)("a %s", (family, key) => {
    it("has settings of its own for everything that its message has settings for", () => {
      const command = accepted({
        ...one(family, "https://example.com/told?a=1,2"),
        ...one(`${family}-Method`, "PUT"),
        ...one(`${family}-Timeout`, "10s"),
        ...one(`${family}-Retries`, "1"),
        ...one(`${family}-Retry-Delay`, "100"),
        ...one(`${family}-Delay`, "2m"),
        ...one(`${family}-Label`, "told"),
        ...one(`${family}-Flow-Control-Key`, "k"),
        ...one(`${family}-Flow-Control-Value`, "rate=1"),
        ...one(`${family}-Forward-X-Secret`, "s"),
      });

      expect(command.policy[key]).toEqual({
        url: "https://example.com/told?a=1,2",
        method: "PUT",
        headers: [["X-Secret", "s"]],
        delayMs: 120_000,
        timeoutMs: 10_000,
        retriesMax: 1,
        retryDelay: "100",
        labels: ["told"],
        flow: { key: "k", limits: { rate: 1, periodMs: 1_000 } },
      });
      expect(command.headers).toEqual([]);
    });

    it("inherits settings that it does not set, and is a POST", () => {
      const command = accepted({ ...one(family, "https://example.com/"), ...one("Retries", "7") });

      expect(command.policy[key]).toEqual({
        url: "https://example.com/",
        method: "POST",
        headers: [],
        delayMs: 0,
        timeoutMs: defaultPlan.timeoutMsDefault,
      });
    });

    it("is ignored without a URL", () => {
      expect(accepted(one(`${family}-Retries`, "1")).policy).not.toHaveProperty(key);
    });

    it("is refused with a URL that is refused, under its own name", () => {
      const readUrl = (url: string, field: string) =>
        url.startsWith("http") ? url : fault("malformed", `${field}: bad`);

      expect(refused(one(family, "ftp://x"), { readUrl }).text).toBe(`${prefix}${family}: bad`);
    });

    it("has its URL read from UTF-8, and another encoding is refused under its own name", () => {
      const given = (bytes: Buffer) => one(family, bytes.toString("latin1"));
      const url = "https://bücher.example/é";

      expect(accepted(given(Buffer.from(url))).policy[key]?.url).toBe(url);
      expect(refused(given(Buffer.from(url, "latin1"))).text).toBe(
        `${prefix}${family}: must be UTF-8, or percent-encoded`,
      );
    });

    it("that inherits an expression has it checked for its own number of retries", () => {
      const asked: [string, number, string][] = [];
      const checkRetryDelay = (...args: [string, number, string]) => void asked.push(args);

      accepted(
        {
          ...one("Retry-Delay", "retried"),
          ...one(family, "https://example.com/"),
          ...one(`${family}-Retries`, "9"),
        },
        { checkRetryDelay },
      );

      expect(asked).toEqual([["retried", 9, `${prefix}Retry-Delay`]]);
    });

    it("with an expression has it checked for its own number of retries", () => {
      const asked: [string, number, string][] = [];
      const checkRetryDelay = (...args: [string, number, string]) => void asked.push(args);

      accepted(
        {
          ...one("Retry-Delay", "1"),
          ...one(family, "https://example.com/"),
          ...one(`${family}-Retry-Delay`, "2"),
          ...one(`${family}-Retries`, "9"),
        },
        { checkRetryDelay },
      );

      expect(asked).toEqual([
        ["2", 9, `${prefix}${family}-Retry-Delay`],
        ["1", 3, `${prefix}Retry-Delay`],
      ]);
    });
  });

  it("an expression that cannot be evaluated is refused in the evaluator's words", () => {
    const checkRetryDelay = (_: string, retriesMax: number, field: string): Fault =>
      fault("malformed", `${field}: not for ${retriesMax}`);

    expect(refused(one("Retry-Delay", "1/0"), { checkRetryDelay }).text).toBe(
      `${prefix}Retry-Delay: not for 3`,
    );
  });
});

it("a colon in a deduplication id is refused in the Upstash dialect only", () => {
  expect(refused({ "Upstash-Deduplication-Id": "a:b" })).toEqual({
    fault: "malformed",
    text: "DeduplicationId cannot contain ':'",
  });
  expect(accepted({ "Service-Deduplication-Id": "a:b" }).deduplication).toEqual({
    kind: "explicit",
    id: "a:b",
  });
});

it("two copies of Content-Type are refused", () => {
  expect(refused(["Content-Type", "a/b", "content-type", "a/b"]).text).toContain("once");
});
