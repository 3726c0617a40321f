import { describe, expect, it } from "@jest/globals";
import { isFault } from "@posthaste/domain";
import * as fc from "fast-check";
import { counted, fuzzRuns, hostileText } from "../hostile.fixture.ts";
import { readWithLong, readBytes, readSize } from "./json-string.ts";
import { readMembers } from "./json-members.ts";
import { jsonBytesMax, readJson } from "./json.ts";
import { atOnce } from "./pause.ts";

const membersOf = (...asked: Parameters<typeof readMembers>) => atOnce(readMembers(...asked));

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (text: Uint8Array): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(text);

/** Returns a text as JSON writes it inside a string, without the quotes. */
const inner = (text: string): string => JSON.stringify(text).slice(1, -1);

function parsed(text: Uint8Array): { readonly json: unknown } | undefined {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return { json: JSON.parse(decoder.decode(text)) };
  } catch {
    return undefined;
  }
}

const pieces = [
  ...'[ ] { } , : " \\ \\" \\n \\/ \\u0000 \\u00e9 \\u20AC \\ud83d\\ude00 \\ud800 \\udc00 \\u12 \\x'.split(
    " ",
  ),
  ...'0 -1 01 1.5 1. .5 1e9 1E+9 1e 1e-9 -0 true false null nul "a" "a":1 {} [] é € 😀'.split(" "),
  " ",
  "\n",
  "\0",
  "\u{feff}",
];
const anyText = fc.oneof(
  { arbitrary: hostileText(pieces, 12), weight: 4 },
  { arbitrary: fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value)), weight: 1 },
  { arbitrary: fc.jsonValue().map((value) => JSON.stringify(value, undefined, "\t")), weight: 1 },
);

describe("a text that is checked without being parsed", () => {
  const faultOf = (text: Uint8Array): string | undefined => {
    const members = membersOf(text, new Set(), 64);
    return isFault(members) ? members.text : undefined;
  };

  it("is JSON where JSON.parse takes it, each byte being looked at a few times", () => {
    fc.assert(
      fc.property(anyText, fc.uint8Array({ maxLength: 2 }), (text, end) => {
        const whole = new Uint8Array([...bytes(`{"a":`), ...bytes(text), ...end, 0x7d]);
        const { list, reads } = counted(whole);

        expect(faultOf(whole) === undefined).toBe(parsed(whole) !== undefined);
        expect(isFault(membersOf(list, new Set(["a"])))).toBe(parsed(whole) === undefined);
        expect(reads()).toBeLessThanOrEqual(6 * whole.length);
      }),
      { numRuns: fuzzRuns * 4 },
    );
  });

  it("may nest up to the given depth, and no deeper", () => {
    const nested = (depth: number): Uint8Array =>
      bytes(`{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`);

    expect(faultOf(nested(64))).toBeUndefined();
    expect(faultOf(nested(65))).toBe("body: must not nest deeper than 64");
    expect(faultOf(nested(100_000))).toBe("body: must not nest deeper than 64");
  });
});

describe("a string that is read as bytes", () => {
  const aString = fc
    .oneof(hostileText(pieces, 8), fc.string({ unit: "binary", maxLength: 20 }).map(inner))
    .map((text) => bytes(`"${text}"`));

  it("returns the value that JSON.parse returns", () => {
    fc.assert(
      fc.property(aString, (text) => {
        const span = { from: 0, to: text.length };
        const read = parsed(text);
        fc.pre(typeof read?.json === "string");
        const size = atOnce(readSize(text, span));
        const json = String(read?.json);
        const said = atOnce(readBytes(text, span, size));
        expect(textOf(said)).toBe(json.toWellFormed());
        expect(size).toEqual({ bytes: said.length, isWellFormed: json.isWellFormed() });
      }),
      { numRuns: fuzzRuns * 4 },
    );
  });

  it.each([
    "\u{7f}",
    "\u{80}",
    "\u{7ff}",
    "\u{800}",
    "\u{d7ff}",
    "\u{e000}",
    "\u{ffff}",
    "\u{10000}",
    "\u{10ffff}",
  ])("says %j, where another length begins or ends, as JSON.parse does", (json) => {
    const units = Array.from({ length: json.length }, (_, i) => json.charCodeAt(i));
    const escaped = units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
    const text = bytes(`"${escaped}"`);
    const span = { from: 0, to: text.length };

    const size = atOnce(readSize(text, span));

    expect(size).toEqual({ bytes: bytes(json).length, isWellFormed: true });
    expect(atOnce(readBytes(text, span, size))).toEqual(bytes(json));
  });

  it("may be read up to a bound, and a little more", () => {
    fc.assert(
      fc.property(aString, fc.nat(30), (text, bytesMax) => {
        const span = { from: 0, to: text.length };
        fc.pre(typeof parsed(text)?.json === "string");
        const size = atOnce(readSize(text, span));
        const whole = atOnce(readBytes(text, span, size));

        const some = atOnce(readBytes(text, span, size, bytesMax));

        expect(some).toEqual(whole.subarray(0, some.length));
        expect(some.length).toBeGreaterThanOrEqual(Math.min(whole.length, bytesMax + 1));
        expect(some.length).toBeLessThanOrEqual(bytesMax + 4);
      }),
      { numRuns: fuzzRuns },
    );
  });
});

describe("a name that an object has twice", () => {
  /** Writes a value as JSON.stringify does, but writes the `nth` name once more, with escapes. */
  function written(value: unknown, nth: number) {
    let names = 0;
    let place: string | undefined;
    const write = (json: unknown, path: string): string => {
      if (typeof json !== "object" || json === null) return JSON.stringify(json);
      if (Array.isArray(json))
        return `[${json.map((v, i) => write(v, `${path}[${i}]`)).join(",")}]`;
      const members = Object.entries(json).map(([name, v]) => {
        const at = `${path}.${name}`;
        const isIt = names++ === nth;
        const member = `${JSON.stringify(name)}:${write(v, at)}`;
        if (!isIt) return [member];
        place = at.replace(/^\./, "");
        return [member, `"${[...name].map(escaped).join("")}":[]`];
      });
      // The value is written again, so the last member is the same.
      const [once, again] = [members.map(([first]) => first), members.flatMap((m) => m.slice(1))];
      return `{${[...once, ...again].join(",")}}`;
    };
    return { text: write(value, ""), place: () => place, names: () => names };
  }
  const escaped = (character: string): string =>
    Array.from({ length: character.length }, (_, i) =>
      character.charCodeAt(i).toString(16).padStart(4, "0"),
    )
      .map((digits) => `\\u${digits}`)
      .join("");
  // JSON.parse of V8 13.6 takes a name in escapes for a name with a backslash that an earlier object had in its place.
  const key = fc
    .oneof(
      fc.constantFrom("__proto__", "constructor", "1", "", "a:b", '"', "{", "é"),
      fc.string({ unit: "grapheme", maxLength: 6 }),
    )
    .filter((name) => !name.includes("\\"));
  const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.oneof(fc.integer(), fc.string({ maxLength: 6 }), fc.boolean(), fc.constant(null)),
      fc.dictionary(key, tie("value"), { maxKeys: 5 }),
      fc.array(tie("value"), { maxLength: 4 }),
    ),
  }));

  it("is refused at any depth by its place, and no other name is", () => {
    fc.assert(
      fc.property(anyValue, fc.nat(), (value, pick) => {
        const { names, text } = written(value, -1);
        expect(readJson(bytes(text), "body")).toEqual(parsed(bytes(text)));
        fc.pre(names() > 0);

        const twice = written(value, pick % names());

        expect(readJson(bytes(twice.text), "body")).toEqual({
          fault: "malformed",
          text: `${twice.place() || "body"}: must not occur twice`,
        });
        expect(readJson(bytes(twice.text), "body", "last")).toEqual(parsed(bytes(twice.text)));
      }),
      { numRuns: fuzzRuns },
    );
  });
});

describe("members that are found by name", () => {
  it("are the members that JSON.parse finds, the last of several", () => {
    const text = bytes(' { "a" : 1, "b": [ {"a": 2} ], "\\u0061": {"c": "}"} } ');
    const members = membersOf(text, new Set(["a", "b", "d"]));

    expect(members).toEqual(
      new Map([
        ["a", { from: 41, to: 51, isRepeated: true }],
        ["b", { from: 17, to: 29 }],
      ]),
    );
  });

  it("are not looked for among more than a thousand", () => {
    const many = `{${Array.from({ length: 1_025 }, (_, i) => `"${i}":0`).join(",")}}`;

    expect(membersOf(bytes(many), new Set(["a"]))).toMatchObject({ fault: "malformed" });
  });

  const watched = (text: Uint8Array) => {
    let looks = 0;
    const seen = new Proxy(text, {
      get: (target, name) => {
        if (typeof name === "string" && /^\d+$/.test(name)) looks += 1;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    return { seen, looks: () => looks };
  };
  const nested = (levels: number, times = 1): Uint8Array =>
    bytes(
      `{"stepId":1,"out":[${Array.from({ length: times }, () => "[".repeat(levels) + "]".repeat(levels)).join(",")}]}`,
    );
  const looksAt = (text: Uint8Array): { readonly looks: number; readonly isRefused: boolean } => {
    const { looks, seen } = watched(text);
    const members = membersOf(seen, new Set(["stepId"]), 256);
    return { looks: looks(), isRefused: isFault(members) };
  };

  it("cost no more looks than there are bytes, some each, however deep they nest", () => {
    for (const text of [nested(254), nested(100, 200), nested(1, 10_000)]) {
      const { isRefused, looks } = looksAt(text);
      expect(isRefused).toBe(false);
      expect(looks).toBeLessThan(text.length * 8);
    }
  });

  it("cost no look behind the level at which they are refused", () => {
    const [shorter, longer] = [nested(1_000), nested(100_000)].map(looksAt);

    expect(longer).toEqual(shorter);
    expect(longer?.isRefused).toBe(true);
    expect(longer?.looks).toBeLessThan(256 * 8);
  });
});

describe("an object with one long string in it", () => {
  const read = (json: object | string) =>
    atOnce(
      readWithLong(bytes(typeof json === "string" ? json : JSON.stringify(json)), "body", "[0]"),
    );
  const long = 'é"\n😀\\'.repeat(jsonBytesMax);

  it("is parsed without that", () => {
    const got = read({ a: 1, body: long, c: [2] });
    if (isFault(got)) throw new Error(got.text);

    expect(got.json).toEqual({ a: 1, body: "", c: [2] });
    expect(got.long).toMatchObject({ isWellFormed: true, bytes: Buffer.byteLength(long) });
    expect(got.long && atOnce(got.long.said())).toEqual(bytes(long));
  });

  it("is parsed whole if it is short", () => {
    expect(read({ body: "a" })).toEqual({ json: { body: "a" } });
  });

  it.each<[string, object | string]>([
    ["beside it is too much", { body: long, c: "c".repeat(jsonBytesMax) }],
    ["it is no string", { body: [long] }],
    ["another one is long", { text: long }],
  ])("is refused where %s", (_, json) => {
    expect(read(json)).toMatchObject({
      fault: "too_large",
      text: `[0]: must be at most ${jsonBytesMax} bytes beside its body`,
    });
  });

  it("is refused if that string is a duplicate name, unless the last value counts", () => {
    const twice = `{"body":"${"a".repeat(jsonBytesMax)}","b\\u006fdy":"${"b".repeat(jsonBytesMax - 99)}"}`;

    expect(read(twice)).toEqual({
      fault: "malformed",
      text: "[0].body: must not occur twice",
    });
    const swapped = bytes(`{"body":"short","body":"${"b".repeat(jsonBytesMax)}"}`);
    expect(atOnce(readWithLong(swapped, "body", "", "last"))).toMatchObject({
      long: { bytes: jsonBytesMax },
    });
  });

  it.each<[string, string]>([
    ["no object", `["${long}"]`],
    ["no JSON behind it", `{"body":${JSON.stringify(long)},}`],
    ["a string that is none", `{"body":"${"\\x".repeat(jsonBytesMax)}"}`],
  ])("is refused if it is %s", (_, json) => {
    expect(read(json)).toMatchObject({ fault: "malformed" });
  });

  it("is looked at a few times, byte for byte", () => {
    const { list, reads } = counted(
      bytes(JSON.stringify({ body: "é\\n".repeat(jsonBytesMax / 4) })),
    );
    const { length } = list;

    const read = atOnce(readWithLong(list, "body", ""));

    const said = isFault(read) || !read.long ? undefined : atOnce(read.long.said());
    expect(said?.length).toBe((jsonBytesMax / 4) * 4);
    expect(reads()).toBeLessThanOrEqual(6 * length);
  });
});
