import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { originHash } from "./url.ts";

describe("the hash of an origin", () => {
  it.each([
    "https://a.example/other/path",
    "https://a.example?query",
    "https://a.example#fragment",
    "https://a.example",
    "HTTPS://A.Example/x",
    "https://a.example:443/",
    "https://a.example:00443/x",
    "https://a.example:/",
    "https://a.example\\other",
    "https://a.example./x",
    "https://%61.example/",
    "https://\uff41.example/",
    "https:\\\\a.example/",
  ])("is that of scheme, host and port alone: %s", (url) => {
    expect(originHash(url)).toBe(originHash("https://a.example/"));
  });

  it.each([
    ["http://127.0.0.1:3000/", "http://127.0.0.1:3000\\a1"],
    ["http://127.0.0.1:3000/", "http://127.0.0.1:03000/"],
    ["http://127.0.0.1/", "http://2130706433:80/"],
    ["http://127.0.0.1/", "http://0x7f.1:00080?x"],
    ["http://127.0.0.1/", "http://0177.0.0.01/"],
    ["http://[::1]:3000/", "http://[0:0::1]:3000"],
    ["http://1.2.3.4/", "http://1.2.3.4:80#x"],
  ])("is the same for URLs that are dialled alike: %s and %s", (plain, other) => {
    expect(originHash(other)).toBe(originHash(plain));
  });

  it("is the parsed origin, however a URL is spelled", () => {
    const host = fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.constantFrom("a", "0x7f.1", "1.2"),
    );
    const port = fc.oneof(
      fc.constant(""),
      fc.constantFrom(":", ":80", ":443", ":080", ":8080", ":65535"),
    );
    const tail = fc.constantFrom("", "/", "/a", "?b", "#c", "\\d");
    const scheme = fc.constantFrom("http", "https", "HTTP");
    fc.assert(
      fc.property(scheme, host, port, tail, (itsScheme, itsHost, itsPort, itsTail) => {
        const text = `${itsScheme}://${itsHost}${itsPort}${itsTail}`;
        const parsed = URL.parse(text);
        if (!parsed) return;
        expect(originHash(text)).toBe(originHash(`${parsed.origin}/`));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(["http://a.example/", "https://b.example/", "https://a.example:8443/", ""])(
    "differs from that of %j",
    (url) => {
      expect(originHash(url)).not.toBe(originHash("https://a.example/"));
    },
  );
});
