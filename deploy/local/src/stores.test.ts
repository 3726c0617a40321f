import { describe, expect, it } from "@jest/globals";
import { suffices } from "./stores.ts";

const all = { kafka: {}, redis: {}, mongodb: ["FerretDB", "mongo-java-server"], missing: [] };
const relaxed = { isStrict: false };
const strict = { isStrict: true };

describe("what a stack needs", () => {
  it("is there when nothing is missing", () => {
    expect(suffices(all, strict)).toBe(true);
  });

  it("one server that speaks MongoDB is enough, unless everything was asked for", () => {
    const one = { ...all, mongodb: ["mongo-java-server"], missing: ["FerretDB"] };

    expect(suffices(one, relaxed)).toBe(true);
    expect(suffices(one, strict)).toBe(false);
  });

  it.each([
    { lack: "Kafka", had: { ...all, kafka: undefined } },
    { lack: "Redis", had: { ...all, redis: undefined } },
    { lack: "MongoDB", had: { ...all, mongodb: [] } },
  ])("without $lack there is none", ({ had }) => {
    expect(suffices(had, relaxed)).toBe(false);
  });
});
