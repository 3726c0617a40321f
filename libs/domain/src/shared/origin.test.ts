import { describe, expect, it } from "@jest/globals";
import { originHash } from "./origin.ts";

describe("the hash of an origin", () => {
  it.each([
    "https://a.example/other/path",
    "https://a.example?query",
    "https://a.example#fragment",
    "https://a.example",
    "HTTPS://A.Example/x",
  ])("is that of scheme, host and port alone: %s", (url) => {
    expect(originHash(url)).toBe(originHash("https://a.example/"));
  });

  it.each(["http://a.example/", "https://b.example/", "https://a.example:8443/", ""])(
    "differs from that of %j",
    (url) => {
      expect(originHash(url)).not.toBe(originHash("https://a.example/"));
    },
  );
});
