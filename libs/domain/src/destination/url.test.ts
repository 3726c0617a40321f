import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { isFault } from "../shared/fault.ts";
import { looksLikeHost, readUrl, standardUrl } from "./url.ts";

const written = (given: string): string => {
  const read = readUrl(given);
  return isFault(read) ? read.text.replace("invalid destination url: ", "refused: ") : read.text;
};

describe("the text of a URL", () => {
  it.each([
    "https://example.com/a?b=c",
    "http://example.com",
    "http://example.com?q",
    "http://example.com/?",
    "HTTPS://Example.COM/Path",
    "https://example.com:443/x",
    "http://127.0.0.1:3000/%zz%2f%C3%BC",
    "http://[::1]:3000/x",
    "http://a_b.example./x",
    "https://example.com/.well-known/x?u=https://c.d/./?z=1&w=%23",
    "https://example.com/a;b,c=d|e[f]~!$&'()*+:@?x|^`{}[]\\",
  ])("is unchanged if the standard has nothing to encode: %s", (given) => {
    expect(written(given)).toBe(given);
  });

  it.each([
    ["https://example.com/a b?c d", "https://example.com/a%20b?c%20d"],
    ["https://example.com/bücher/日?q=ü", "https://example.com/b%C3%BCcher/%E6%97%A5?q=%C3%BC"],
    ["https://bücher.example/x", "https://xn--bcher-kva.example/x"],
    ["https://b%C3%BCcher.example", "https://xn--bcher-kva.example"],
    ["https://ＥＸＡＭＰＬＥ.com:0443", "https://example.com"],
    ["https://example.com/x#part", "https://example.com/x"],
    ["https://example.com#part", "https://example.com"],
    ["https://example.com?q#part?x", "https://example.com?q"],
    ["https://example.com/a #part", "https://example.com/a%20"],
    ["http://example.com#@127.0.0.1/", "http://example.com"],
    ["https://example.com\\a\\b?c\\d", "https://example.com/a/b?c\\d"],
    ["https://example.com/a\\b", "https://example.com/a/b"],
    ["Http://Example.com/a b", "Http://Example.com/a%20b"],
    ["https://example.com?a b", "https://example.com?a%20b"],
    [" \t\nhttps://exa\nmple.com/a\tb\r\n ", "https://example.com/ab"],
    ["https://example.com/a/../b/./c/%2e%2E/d", "https://example.com/b/d"],
    ["https://example.com/..", "https://example.com/"],
    ['https://example.com/"<>^`{}?"<>\'', "https://example.com/%22%3C%3E%5E%60%7B%7D?%22%3C%3E%27"],
    ["https://example.com/\0\x7f\x85\u200b", "https://example.com/%00%7F%C2%85%E2%80%8B"],
    ["http://127.1:0080/x", "http://127.0.0.1/x"],
    ["http://example.com:/x", "http://example.com/x"],
    ["http://@example.com/x", "http://example.com/x"],
    ["http://[::FFFF:1.2.3.4]", "http://[::ffff:102:304]"],
  ])("is written as in the standard if it differs: %j", (given, text) => {
    expect(written(given)).toBe(text);
  });

  const scheme = "refused: endpoint has invalid scheme, add http:// or https://";
  const invalid = "refused: endpoint is not a valid URL";
  it.each([
    ["example.com", scheme],
    ["ftp://example.com", scheme],
    ["http:/example.com", scheme],
    ["http:\\\\example.com", scheme],
    ["http:///example.com", scheme],
    ["", scheme],
    ["http://", invalid],
    ["http://a b.example/", invalid],
    ["http://example.com:99999/", invalid],
    ["http://xn--\u00fc/", invalid],
    ["http://example.com/\ud800", "refused: endpoint has half a character"],
    [
      "http://user:pw@example.com/",
      "refused: endpoint has credentials, send them in the -Forward-Authorization header",
    ],
    [`http://example.com/${"ü".repeat(1_000)}`, "refused: endpoint is longer than 4096 characters"],
  ])("is refused where none can be made: %j", (given, why) => {
    expect(written(given)).toBe(why);
  });

  it("may have 4,096 characters, as a signed URL with the token of a session needs", () => {
    const longest = "https://example.com/".padEnd(4_096, "x");

    expect(written(`${longest}#fragment`)).toBe(longest);
    expect(written(`${longest}x`)).toBe("refused: endpoint is longer than 4096 characters");
  });

  const part = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("%2e", "..", "/", "\\", "?", "#", "'", "ü", " ", "%", "\t", ":80", "A.b"),
  );
  const anyUrl = fc
    .tuple(
      fc.constantFrom("http://", "HTTPS://", "https://e.example", "http://[::1]"),
      part,
      part,
      part,
    )
    .map((parts) => parts.join(""));

  it("is the given URL without its fragment, is sent unchanged, and does not change when it is read again", () => {
    fc.assert(
      fc.property(anyUrl, (given) => {
        const read = readUrl(given);
        if (isFault(read)) return;
        const { text, path, parsed } = read;
        const standard = new URL(given);
        standard.hash = "";

        expect(text).toMatch(/^[!-~]+$/);
        expect(new URL(text).href).toBe(standard.href);
        expect(parsed.href).toBe(standard.href);
        expect(path).toBe(standard.href.slice(standard.origin.length));
        expect(text.endsWith(path) || text.endsWith(path.slice(1))).toBe(true);
        expect(written(text)).toBe(text);
        expect(standardUrl(given)).toBe(text);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("a name", () => {
  it.each(["example.com", "a.b-c.example.org", "localhost", "127.0.0.1", "EXAMPLE.COM"])(
    "looks like a host: %s",
    (name) => expect(looksLikeHost(name)).toBe(true),
  );

  it.each(["orders", "orders.v2", "no.such-group_1", "a..com", "-a.com", "1.2.3", "a.b", "."])(
    "does not: %s",
    (name) => expect(looksLikeHost(name)).toBe(false),
  );
});
