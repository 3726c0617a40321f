import { describe, expect, it } from "@jest/globals";
import { defaultPlan, isFault } from "@posthaste/domain";
import { parseOverrides } from "./parse-publish.ts";
import { now } from "./publish-input.fixture.ts";

const overridesOf = (headers: Readonly<Record<string, string>>) =>
  parseOverrides({
    rawHeaders: Object.entries(headers).flat(),
    plan: defaultPlan,
    now,
    checkRetryDelay: () => undefined,
    checkDestination: () => undefined,
  });

describe("the headers of a retry", () => {
  it("change nothing when there are none of ours", () => {
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
        flow: { key: "k", limits: { parallelism: 2, periodMs: 1_000 } },
        redaction: { body: true, headers: [] },
      },
      postponement: { kind: "delay", delayMs: 60_000 },
    });
  });

  it.each([
    [{ "Service-Retries": "x" }, "Service-Retries"],
    [{ "Service-Flow-Control-Key": "k" }, "Flow-Control-Value"],
    [{ "Upstash-Deduplication-Id": "a" }, "Deduplication-Id"],
    [{ "Service-Queue-Name": "q" }, "Queue-Name"],
    [{ "Service-Content-Based-Deduplication": "true" }, "Content-Based-Deduplication"],
    [{ "Service-Header-Forward": "true" }, "Header-Forward"],
    [{ "Service-Retries": "1", "Upstash-Timeout": "1s" }, "Upstash-Timeout"],
  ])("that are wrong are named: %j", (headers, name) => {
    const refused = overridesOf(headers);

    expect(isFault(refused) && refused.text).toContain(name);
  });
});
