/** Tests that any headers are read or refused by name, whatever they hold. */
import { describe, expect, it } from "@jest/globals";
import { defaultPlan, isFault } from "@posthaste/domain";
import * as fc from "fast-check";
import { accepted, publish } from "./publish-input.fixture.ts";
import { headerRules } from "./table.ts";

describe("any headers", () => {
  const suffix = fc.oneof(
    fc.constantFrom(...headerRules.map((rule) => rule.suffix.replace("*", "X"))),
    fc.string(),
  );
  const value = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.stringMatching(/^[0-9smhd,=. ]{0,20}$/),
    fc.constantFrom("true", "rate=1", "POST", "https://a.b", "header[x]", "1s", "3"),
  );
  const header = fc.tuple(fc.constantFrom("Service-", "Upstash-", ""), suffix, value);

  it("a publish is either a command within all bounds or a fault with a text", () => {
    fc.assert(
      fc.property(fc.array(header, { maxLength: 12 }), (headers) => {
        const command = publish(headers.flatMap(([prefix, name, text]) => [prefix + name, text]));

        if (isFault(command)) return command.text.length > 0;
        const { policy } = command;
        const bytes = command.headers.reduce(
          (sum, [name, text]) => sum + name.length + text.length,
          0,
        );
        return (
          policy.retriesMax <= defaultPlan.retriesMax &&
          policy.timeoutMs > 0 &&
          policy.timeoutMs <= defaultPlan.timeoutMsMax &&
          policy.labels.length <= 32 &&
          bytes <= 16_384
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it("flow limits are read as they were written, in any order", () => {
    const count = fc.integer({ min: 1, max: 1_000_000 });
    const part = fc.record({
      parallelism: count,
      rate: count,
      period: fc.integer({ min: 1, max: 604_800 }),
    });
    fc.assert(
      fc.property(
        part,
        fc.shuffledSubarray(["parallelism", "rate", "period"] as const, { minLength: 3 }),
        (parts, order) => {
          const text = order.map((name) => `${name}=${parts[name]}`).join(",");

          const { policy } = accepted({
            "Service-Flow-Control-Key": "k",
            "Service-Flow-Control-Value": text,
          });

          expect(policy.flow?.limits).toEqual({
            parallelism: parts.parallelism,
            rate: parts.rate,
            periodMs: parts.period * 1_000,
          });
        },
      ),
    );
  });

  it("delays are read as they were written", () => {
    const amount = fc.integer({ min: 0, max: 300 });
    fc.assert(
      fc.property(amount, amount, amount, amount, (d, h, m, s) => {
        const { postponement } = accepted({ "Upstash-Delay": `${d}d${h}h${m}m${s}s` });
        const delayMs = (((d * 24 + h) * 60 + m) * 60 + s) * 1_000;

        expect(postponement).toEqual(delayMs === 0 ? undefined : { kind: "delay", delayMs });
      }),
    );
  });
});
