import { describe, expect, it } from "@jest/globals";
import { nameOf } from "./redis.ts";

describe("the name of a Redis", () => {
  it.each([
    {
      version: "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64",
      name: "Redis 7.0.15",
    },
    {
      version: "Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64",
      name: "Valkey 8.1.1",
    },
  ])("$name is recognized by its own output", ({ version, name }) => {
    expect(nameOf(version)).toBe(name);
  });
});
