import { describe, expect, it } from "@jest/globals";
import { virtualClock } from "@posthaste/testing";
import { createFailureLimit, networkOf } from "./failure-limit.ts";

describe("a network", () => {
  it.each([
    ["203.0.113.9", "203.0.113"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:0DB8:0:0::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["::", "0:0:0:0"],
    ["fe80::", "fe80:0:0:0"],
    ["", ""],
    ["garbage", ""],
  ])("of %j is %j", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe("failures", () => {
  const fail = (times: number, failed: () => unknown): unknown[] =>
    Array.from({ length: times }, failed);

  it("block for twice as long each time, at most a quarter of an hour", async () => {
    const clock = virtualClock();
    const limit = createFailureLimit(clock);
    const failed = () => limit.failed("203.0.113.1");
    expect(fail(10, failed)).toEqual(Array<undefined>(10).fill(undefined));

    const blocks: unknown[] = [];
    for (let i = 0; i < 12; i++) {
      const seconds = failed() ?? 0;
      blocks.push(seconds);
      await clock.advance(seconds * 1_000);
    }

    expect(blocks).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  });

  it("are forgiven after a quiet minute", async () => {
    const clock = virtualClock();
    const limit = createFailureLimit(clock);
    fail(11, () => limit.failed("203.0.113.1"));
    expect(limit.blockedSeconds("203.0.113.1")).toBe(1);

    await clock.advance(61_000);

    expect(limit.blockedSeconds("203.0.113.1")).toBeUndefined();
    expect(limit.failed("203.0.113.1")).toBeUndefined();
  });

  it("spread over more than a minute do not block", async () => {
    const clock = virtualClock();
    const limit = createFailureLimit(clock);

    for (let i = 0; i < 100; i++) {
      expect(limit.failed("203.0.113.1")).toBeUndefined();
      await clock.advance(6_100);
    }
  });

  it("are remembered of the latest ten thousand networks, no more", () => {
    const limit = createFailureLimit(virtualClock());
    fail(11, () => limit.failed("192.0.2.1"));
    expect(limit.blockedSeconds("192.0.2.1")).toBe(1);

    for (let i = 0; i < 10_000; i++) limit.failed(`10.${i >> 8}.${i & 255}.1`);

    expect(limit.blockedSeconds("192.0.2.1")).toBeUndefined();
  });
});

describe("a full map of networks", () => {
  it("forgets the caller that was quiet for longest, and not the one that failed first", () => {
    const limit = createFailureLimit(virtualClock());
    const network = (n: number): string => `10.${n >> 8}.${n & 255}.1`;
    for (let n = 0; n < 10_000; n++) limit.failed(network(n));
    for (let n = 0; n < 10; n++) limit.failed(network(0));
    expect(limit.blockedSeconds(network(0))).toBeDefined();

    limit.failed("192.0.2.1");

    expect(limit.blockedSeconds(network(0))).toBeDefined();
  });
});
