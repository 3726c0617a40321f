import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { isFault } from "@posthaste/domain";
import { accepted, publish, refused } from "./publish-input.fixture.ts";

const families = ["", "Callback-", "Failure-Callback-"] as const;

function forwardedBy(family: (typeof families)[number], headers: readonly string[]) {
  const { headers: own, policy } = accepted([
    "Upstash-Callback",
    "https://example.com/",
    "Upstash-Failure-Callback",
    "https://example.com/",
    ...headers,
  ]);
  if (family === "") return own;
  return (family === "Callback-" ? policy.callback : policy.failureCallback)?.headers;
}

describe.each(families)("what Upstash-%sForward- gives away", (family) => {
  const forward = `Upstash-${family}Forward-`;

  it("keeps its names, values, repetitions and order", () => {
    const headers = [`${forward}X-My`, "a, b", `${forward}x-my`, "c", `${forward}Empty`, ""];

    expect(forwardedBy(family, headers)).toEqual([
      ["X-My", "a, b"],
      ["x-my", "c"],
      ["Empty", ""],
    ]);
  });

  it.each([
    "__proto__",
    "constructor",
    "toString",
    "Authorization",
    "User-Agent",
    "Upstash-Workflow-RunId",
  ])("may be called %s", (name) => {
    expect(forwardedBy(family, [forward + name, "v"])).toEqual([[name, "v"]]);
  });

  it.each([
    "Connection",
    "Keep-Alive",
    "Proxy-Authorization",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    "Content-Length",
    "Expect",
    "HTTP2-Settings",
    "Service-Signature",
    "Upstash-Signature",
    "Upstash-Message-Id",
    "Service-Retried",
    "Upstash-Topic-Name",
    "Upstash-Schedule-Id",
    "Upstash-Caller-Ip",
    "Upstash-Region",
    "Service-Hop",
    "service-attempt-epoch",
  ])("never is %s", (name) => {
    expect(forwardedBy(family, [forward + name, "v", `${forward}X`, "1"])).toEqual([["X", "1"]]);
  });

  it("leaves out the headers that its Connection header lists", () => {
    const headers = [`${forward}Connection`, "close, X-Secret", `${forward}x-secret`, "s"];

    expect(forwardedBy(family, headers)).toEqual([]);
  });

  it.each([
    ["Host", "169.254.169.254"],
    ["", "v"],
    ["X Y", "v"],
    ["X:Y", "v"],
    ["X", "a\r\nX-Evil: 1"],
    ["X", "a\nb"],
    ["X", "a\0b"],
    ["X", "\u010D"],
    ["X", "é"],
    ["X".repeat(129), "v"],
    ["X", "v".repeat(8_193)],
  ])("is refused as %p: %p, under its full name", (name, value) => {
    const { fault, text } = refused([forward + name, value]);

    expect(fault).toBe("malformed");
    expect(text.startsWith(`${forward}${name}: `)).toBe(true);
  });

  it("is at most 64 headers of 16 KiB together", () => {
    const many = (count: number, value: string) =>
      Array.from({ length: count }, (_, i) => [`${forward}X${i}`, value]).flat();

    expect(forwardedBy(family, many(64, "v"))).toHaveLength(64);
    expect(refused(many(65, "v")).text).toContain(`${family}Forward-*: must be at most 64`);
    expect(refused(many(3, "v".repeat(6_000))).text).toContain("bytes together");
  });
});

it("a forwarded Content-Type wins over the request's own", () => {
  const headers = ["Content-Type", "text/plain", "Service-Forward-content-type", "text/html"];

  expect(accepted(headers).headers).toEqual([["content-type", "text/html"]]);
});

describe("with Header-Forward", () => {
  const incoming = [
    ["Host", "posthaste.example"],
    ["Authorization", "Bearer secret"],
    ["Content-Type", "application/json"],
    ["Content-Length", "2"],
    ["Connection", "keep-alive, X-Hop"],
    ["X-Hop", "1"],
    ["X-Event", "push"],
    ["User-Agent", "Webhooks/1"],
    ["Upstash-Retries", "1"],
  ].flat();

  it("the request's own headers are sent, except the connection's, ours and the token", () => {
    expect(accepted([...incoming, "Upstash-Header-Forward", "True"]).headers).toEqual([
      ["X-Event", "push"],
      ["User-Agent", "Webhooks/1"],
      ["Content-Type", "application/json"],
    ]);
  });

  it("an explicitly forwarded header replaces the request's own, whatever its Connection header lists", () => {
    const explicit = ["Upstash-Forward-x-event", "mine", "Upstash-Forward-X-Hop", "2"];

    const { headers } = accepted([...incoming, ...explicit, "Upstash-Header-Forward", "true"]);

    expect(headers).toEqual([
      ["User-Agent", "Webhooks/1"],
      ["Content-Type", "application/json"],
      ["x-event", "mine"],
      ["X-Hop", "2"],
    ]);
  });

  it("of false no other header is sent", () => {
    expect(accepted([...incoming, "Upstash-Header-Forward", "false"]).headers).toEqual([
      ["Content-Type", "application/json"],
    ]);
  });
});

describe("headers that a caller forwards without naming them", () => {
  const cookie = "c".repeat(9_000);
  const many = Array.from({ length: 80 }, (_, i) => [`X-${i}`, "v"]).flat();
  const received = ["X-Name", "caf\xc3\xa9\xff", "Cookie", cookie, ...many];
  const prefixed = (family: string) =>
    received.map((text, i) => (i % 2 === 0 ? `Upstash-${family}Forward-${text}` : text));
  const run = ["Upstash-Workflow-RunId", "run-1", "Upstash-Workflow-Init", "true"];
  const taking = () => {
    const left: string[] = [];
    return { left, leaveOut: (name: string) => void left.push(name) };
  };

  it("passes byte by byte, except for headers that do not fit, which are reported: by Header-Forward", () => {
    const { left, leaveOut } = taking();

    const { headers } = accepted(
      ["Upstash-Header-Forward", "true", "Upstash-Forward-Own", "1", ...received],
      { leaveOut },
    );

    expect(headers).toContainEqual(["X-Name", "caf\xc3\xa9\xff"]);
    expect(headers).toContainEqual(["Own", "1"]);
    expect(headers).toHaveLength(64);
    expect(left).toHaveLength(19);
    expect(left[0]).toBe("Cookie");
  });

  it.each(families)("and by the start of a run, in %sForward-", (family) => {
    const { left, leaveOut } = taking();
    const needed = ["Upstash-Forward-Upstash-Workflow-Sdk-Version", "1"];
    const callback = [
      "Upstash-Callback",
      "https://a.b/",
      "Upstash-Failure-Callback",
      "https://a.b/",
    ];

    const command = accepted([...run, ...callback, ...prefixed(family), ...needed], { leaveOut });

    const sent =
      family === ""
        ? command.headers
        : command.policy[family === "Callback-" ? "callback" : "failureCallback"]?.headers;
    expect(sent).toContainEqual(["X-Name", "caf\xc3\xa9\xff"]);
    expect(sent?.length).toBeLessThanOrEqual(65);
    expect(left).toContain("X-79");
    expect(left).toContain("Cookie");
    expect(left).not.toContain("X-Name");
  });

  it.each(["X-Name", "Cookie"])("is refused where each is named: %s", (name) => {
    const at = received.indexOf(name);

    expect(refused([`Upstash-Forward-${name}`, received[at + 1] ?? ""]).text).toMatch(
      new RegExp(`^Upstash-Forward-${name}: must `),
    );
  });
});

it("every forwarded header can be written into a request unchanged", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.string());
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 5 }), (pairs) => {
      const command = publish(pairs.flatMap(([name, value]) => [`Service-Forward-${name}`, value]));

      if (isFault(command)) return;
      for (const [name, value] of command.headers) {
        expect(name).toMatch(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/);
        expect(value).toMatch(/^[\t\x20-\x7e]*$/);
      }
    }),
    { numRuns: 1_000 },
  );
});
