import { describe, expect, it } from "@jest/globals";
import { isFault } from "@posthaste/domain";
import * as fc from "fast-check";
import { parseDestination } from "./destination/destination-target.ts";
import { publish } from "./endpoints/publish.ts";
import { createSchedule } from "./endpoints/schedules.ts";
import { parseRawTarget, rawTargetOf } from "./raw-targets.ts";

const parsePublishTarget = (target: string) => parseRawTarget(publish, target);

const invalidScheme =
  "invalid destination url: endpoint has invalid scheme, add http:// or https://";
const empty = "a non-empty destination must be provided";
const url = (text: string) => ({
  destination: { kind: "url", url: text },
  queryConfig: [],
  names: [],
});
const group = (name: string) => ({
  destination: { kind: "group", name },
  queryConfig: [],
  names: [],
});

describe("the destination of a publish", () => {
  it.each([
    ["https://a.b/c?x=y//", "https://a.b/c?x=y//"],
    ["http://example.com", "http://example.com"],
    ["https://a.b/../%2e%2e/x", "https://a.b/../%2e%2e/x"],
    ["HTTP://a.b", "HTTP://a.b"],
    ["https:/a.b/c", "https://a.b/c"],
    ["https:/a.b//c", "https://a.b//c"],
    ["https%3A%2F%2Fa.b%2Fc%3Fx%3D1", "https://a.b/c?x=1"],
    ["HTTPS%3a%2f%2fa.b", "HTTPS://a.b"],
    ["https%3A%2F%2Fa.b%2F%C3%A9%252F", "https://a.b/%C3%A9%2F"],
    ["https%3A%2Fa.b%2Fc", "https://a.b/c"],
    ["https%3A%2F%2Fa.b?x=1", "https://a.b?x=1"],
    ["https%3A%2F%2Fa.b%3Fx%3D1?y=%26", "https://a.b?x=1&y=%26"],
    ["https://a.b/%00", "https://a.b/%00"],
    ["https://a.b/%0d%0aX:1", "https://a.b/%0d%0aX:1"],
    ["https://a.b/%zz", "https://a.b/%zz"],
    ["https://a.b/?u=https://c.d/?z=1&w=%23", "https://a.b/?u=https://c.d/?z=1&w=%23"],
    ["https://a.b/?a=b;c=d", "https://a.b/?a=b;c=d"],
    ["https://a.b/??x", "https://a.b/??x"],
    ["https://a.b/?x=%26", "https://a.b/?x=%26"],
    ["https://a.b/?", "https://a.b/?"],
    ["https://a.b/?&&x", "https://a.b/?&&x"],
  ])("%s is the URL %s", (rest, expected) => {
    expect(parsePublishTarget(`/v2/publish/${rest}`)).toEqual(url(expected));
  });

  it.each(["my-group", "A.b_c-9", "https", "http.x", "g".repeat(128)])("%s is a group", (name) => {
    expect(parsePublishTarget(`/v2/publish/${name}`)).toEqual(group(name));
  });

  it.each([
    ["", empty],
    ["?x=1", empty],
    ["?upstash-retries=3", empty],
    ["https%253A%252F%252Fa.b", invalidScheme],
    ["https%3A%252F%252Fa.b", invalidScheme],
    ["https%3Aa.b", invalidScheme],
    ["https:a.b", invalidScheme],
    ["http:127.0.0.1/", invalidScheme],
    ["https:", invalidScheme],
    ["//a.b", invalidScheme],
    ["ftp://a.b", invalidScheme],
    ["my%2Fgroup", invalidScheme],
    ["..", invalidScheme],
    [".", invalidScheme],
    ["%2e%2e", invalidScheme],
    ["a/b", invalidScheme],
    ["%zz", invalidScheme],
    ["é", invalidScheme],
    ["g".repeat(129), invalidScheme],
  ])("%p is refused", (rest, text) => {
    expect(parsePublishTarget(`/v2/publish/${rest}`)).toEqual({ fault: "malformed", text });
  });

  it("is missing without the last slash, too", () => {
    expect(parsePublishTarget("/v2/publish")).toMatchObject({ text: empty });
  });

  it("follows a route whose case does not matter", () => {
    expect(parsePublishTarget("/V2/Publish/My-Group")).toEqual(group("My-Group"));
  });
});

describe("a target that is taken before the router", () => {
  it.each(["/v2/publish", "/v2/publish/", "/V2/PUBLISH/x", "/v2/publish?x", "/v2/publish//"])(
    "%s is a publish",
    (target) => {
      expect(rawTargetOf("POST", target)).toBe(publish);
      expect(rawTargetOf("GET", target)).toBe(publish);
    },
  );

  it.each([
    "/v2/schedules/https://a.b/x",
    "/V2/Schedules/group",
    "/v2/schedules",
    "/v2/schedules/https://a.b/pause",
    "/v2/schedules/pause",
    "/v2/schedules/?x/pause",
  ])("POST %s makes a schedule", (target) => {
    expect(rawTargetOf("POST", target)).toBe(createSchedule);
  });

  it.each([
    ["GET", "/v2/schedules"],
    ["GET", "/v2/schedules/"],
    ["GET", "/v2/schedules/scd_1"],
    ["DELETE", "/v2/schedules/https://a.b"],
    ["PATCH", "/v2/schedules/scd_1/pause"],
    ["POST", "/v2/schedules/scd_1/pause"],
    ["POST", "/V2/SCHEDULES/scd_1/Resume/"],
    ["POST", "/v2/schedules/scd_1/resume?x=y"],
  ])("%s %s is about schedules that are there, and the router's", (method, target) => {
    expect(rawTargetOf(method, target)).toBeUndefined();
  });

  it.each(["/v2/publishx", "/v2/publis", "/v2/messages/publish", "/", "//v2/publish/x"])(
    "%s is the router's",
    (target) => {
      expect(rawTargetOf("POST", target)).toBeUndefined();
    },
  );

  const named = { ...publish, prefix: "/v2/made-up", names: ["firstName", "secondName"] };
  const parsed = (rest: string) => parseRawTarget(named, `/v2/made-up${rest}`);

  it("may hold names before the destination, which is left unchanged", () => {
    expect(parsed("/a.b/c/https://d.e//f?g=/h")).toEqual({
      ...url("https://d.e//f?g=/h"),
      names: ["a.b", "c"],
    });
  });

  it.each([
    ["", "firstName"],
    ["/", "firstName"],
    ["?a", "firstName"],
    ["//b/c", "firstName"],
    ["/a%2Fb/c/d", "firstName"],
    ["/a", "secondName"],
    ["/a/", "secondName"],
    ["/a/https://b.c", "secondName"],
    ["/a/../c", "secondName"],
  ])("%p is refused for its %s", (rest, field) => {
    expect(parsed(rest)).toEqual({
      fault: "malformed",
      text: `${field}: letters, digits, '-', '_' and '.' only, at most 128 characters`,
    });
  });

  it.each(["/a/b", "/a/b/"])("%p has no destination", (rest) => {
    expect(parsed(rest)).toMatchObject({ text: empty });
  });
});

describe("configuration in the query", () => {
  it.each([
    ["https://a.b/?upstash-retries=3", "https://a.b/", ["upstash-retries", "3"]],
    [
      "https://a.b/?x=1&Upstash-Delay=100s&y=%26",
      "https://a.b/?x=1&y=%26",
      ["Upstash-Delay", "100s"],
    ],
    ["https://a.b/?service-retry-delay=1%2B2+3", "https://a.b/", ["service-retry-delay", "1+2 3"]],
    ["https://a.b/?upstash-unknown&x", "https://a.b/?x", ["upstash-unknown", ""]],
    ["https://a.b/?service-forward-x-y=1&&z", "https://a.b/?&z", ["service-forward-x-y", "1"]],
    ["https%3A%2F%2Fa.b%3Fx%3D1?upstash-retries=3", "https://a.b?x=1", ["upstash-retries", "3"]],
    ["https://a.b/?service-queue-name=q", "https://a.b/", ["service-queue-name", "q"]],
  ])("of %s is taken out and the rest is unchanged", (rest, text, queryConfig) => {
    expect(parsePublishTarget(`/v2/publish/${rest}`)).toEqual({
      destination: { kind: "url", url: text },
      queryConfig,
      names: [],
    });
  });

  it("may follow a group, too", () => {
    expect(parsePublishTarget("/v2/publish/group?upstash-retries=3")).toEqual({
      destination: { kind: "group", name: "group" },
      queryConfig: ["upstash-retries", "3"],
      names: [],
    });
  });

  it("includes the token, which is never sent to the destination", () => {
    expect(parsePublishTarget("/v2/publish/https://a.b/?a=1&QSTASH_TOKEN=s%3D%3D&b")).toEqual({
      ...url("https://a.b/?a=1&b"),
      token: "s==",
    });
  });

  it("is not a similar name: a service-id may be the destination's own", () => {
    const text = "https://a.b/?service-id=5&x=upstash-retries";

    expect(parsePublishTarget(`/v2/publish/${text}`)).toEqual(url(text));
  });
});

describe("any target", () => {
  const path = fc.webUrl({ withQueryParameters: true });

  it("a URL is read as it was written", () => {
    fc.assert(
      fc.property(path, (text) => {
        expect(parsePublishTarget(`/v2/publish/${text}`)).toEqual(url(text));
      }),
    );
  });

  it("a URL encoded once is read as it was before the encoding", () => {
    fc.assert(
      fc.property(path, (text) => {
        expect(parseDestination(encodeURIComponent(text))).toEqual({ kind: "url", url: text });
      }),
    );
  });

  it("parsing answers a URL, the name of a group, or a fault", () => {
    const start = fc.constantFrom("", "https://", "http%3A%2F%2F", "https:/", "a?");
    fc.assert(
      fc.property(start, fc.string({ unit: "binary" }), (head, rest) => {
        const target = parsePublishTarget(`/v2/publish/${head}${rest}`);

        if (isFault(target)) return target.text.length > 0;
        const { destination } = target;
        if (destination.kind === "api") return destination.api === "llm";
        return destination.kind === "url"
          ? /^https?:/i.test(destination.url)
          : /^[\w.-]+$/.test(destination.name);
      }),
      { numRuns: 2_000 },
    );
  });
});
