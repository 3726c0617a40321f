import { describe, expect, it } from "@jest/globals";
import { aMessage, aPolicy, sha256 } from "@posthaste/testing";
import { type Redaction } from "./policy.ts";
import { inheritedRedaction, redacted, redactedConfiguration, redactHeaders } from "./redact.ts";

const headers = [
  ["Authorization", "hunter2"],
  ["X-Open", "yes"],
] as const;
const hidden = `REDACTED:${sha256("hunter2")}`;

describe("redaction", () => {
  it("puts REDACTED and the SHA-256 in hex instead of a value", () => {
    expect(redacted("", sha256)).toBe(
      "REDACTED:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
    expect(redacted(new TextEncoder().encode("a"), sha256)).toBe(redacted("a", sha256));
  });

  it.each<[string, Redaction | undefined, readonly string[]]>([
    ["none", undefined, ["hunter2", "yes"]],
    ["the body only", { body: true, headers: [] }, ["hunter2", "yes"]],
    ["a header, whatever its case", { body: false, headers: ["authorization"] }, [hidden, "yes"]],
    ["all headers", { body: false, headers: "all" }, [hidden, `REDACTED:${sha256("yes")}`]],
  ])("of %s hides just that", (_, redaction, values) => {
    const shown = redactHeaders(headers, redaction, sha256);

    expect(shown.map(([, value]) => value)).toEqual(values);
    expect(shown.map(([name]) => name)).toEqual(["Authorization", "X-Open"]);
  });

  it("is inherited by callbacks with the body hidden, and absent if there was none", () => {
    const message = aMessage({ policy: aPolicy({ redaction: { body: false, headers: "all" } }) });

    expect(inheritedRedaction(message)).toEqual({ body: true, headers: "all" });
    expect(inheritedRedaction(aMessage())).toBeUndefined();
  });

  it("is done in facts and logs, also in the headers of callbacks, and leaves no body", () => {
    const callback = {
      url: "https://callback.example/",
      method: "POST",
      headers,
      delayMs: 0,
      timeoutMs: 60_000,
    } as const;
    const message = aMessage({
      headers,
      policy: aPolicy({
        callback,
        failureCallback: callback,
        redaction: { body: true, headers: ["authorization"] },
      }),
    });

    const configuration = redactedConfiguration(message, sha256);

    expect(JSON.stringify(configuration)).not.toMatch(/hunter2/);
    expect(configuration).not.toHaveProperty("body");
    expect(configuration.policy.callback?.headers).toEqual([
      ["Authorization", hidden],
      ["X-Open", "yes"],
    ]);
    expect(redactedConfiguration(aMessage({ headers }), sha256).headers).toEqual(headers);
  });
});
