import { describe, expect, it } from "@jest/globals";
import { suffices } from "./stores.ts";

const all = { kafka: {}, redis: {}, mongodb: {} };

describe("the needs of a stack", () => {
  it("is there when nothing is missing", () => {
    expect(suffices(all)).toBe(true);
  });

  it.each(["kafka", "redis", "mongodb"] as const)("without %s there is none", (lack) => {
    expect(suffices({ ...all, [lack]: undefined })).toBe(false);
  });
});
