import { describe, expect, it } from "@jest/globals";
import { type CallFrame, type CpuProfile, packageOf, selfTimes } from "./self-time.ts";

const frame = (functionName: string, url = "", lineNumber = 0): CallFrame => ({
  functionName,
  url,
  lineNumber,
});

const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame("(idle)") },
    { id: 2, callFrame: frame("insert", "file:///repo/libs/embedded/src/insert.ts", 9) },
    { id: 3, callFrame: frame("(garbage collector)") },
  ],
  samples: [1, 2, 2, 3, 1],
  timeDeltas: [5_000, 1_000, 2_000, 1_000, 9_000],
};

describe("selfTimes", () => {
  it("gives each function its share of the time that was not idle, highest first", () => {
    expect(selfTimes([profile], "/repo")).toEqual({
      busyMs: 4,
      byFunction: [
        { name: "insert libs/embedded/src/insert.ts:10", ms: 3, share: 0.75 },
        { name: "(garbage collector)", ms: 1, share: 0.25 },
      ],
      byPackage: [
        { name: "libs/embedded", ms: 3, share: 0.75 },
        { name: "(garbage collector)", ms: 1, share: 0.25 },
      ],
    });
  });

  it("adds up the threads of a process", () => {
    expect(selfTimes([profile, profile], "/repo").busyMs).toBe(8);
  });
});

describe("packageOf", () => {
  it("names the installed package, the workspace package, or Node's module", () => {
    const of = (url: string) => packageOf(frame("f", url), "/repo");

    expect(of("file:///repo/node_modules/.pnpm/undici@8.1.0/node_modules/undici/lib/core.js")).toBe(
      "undici",
    );
    expect(of("file:///repo/node_modules/.pnpm/@a+b@1/node_modules/@a/b/x.js")).toBe("@a/b");
    expect(of("file:///repo/services/gateway/src/publish.ts")).toBe("services/gateway");
    expect(of("node:internal/streams/writable")).toBe("node:streams");
    expect(of("node:net")).toBe("node:net");
    expect(of("")).toBe("(native)");
  });
});
