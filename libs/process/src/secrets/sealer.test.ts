import { describe, expect, it } from "@jest/globals";
import { createSealer } from "./sealer.ts";

const keyOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const [oldKey, newKey, otherKey] = [keyOf(1), keyOf(2), keyOf(3)];
const place = "the signing key of me";

describe("a sealed secret", () => {
  const sealer = createSealer([oldKey]);

  it.each([
    ["a signing key", "sig_0123456789"],
    ["nothing", ""],
    ["any characters", "é\0🔑\n"],
  ])("opens to the sealed text: %s", (_, text) => {
    expect(sealer.open(sealer.seal(text, place), place)).toBe(text);
  });

  it("does not show its content, nor that two have the same content", () => {
    const [one, two] = [sealer.seal("sig_0123456789", place), sealer.seal("sig_0123456789", place)];

    expect(one).not.toContain("sig_0123456789");
    expect(one).not.toContain(Buffer.from("sig_0123456789").toString("base64url"));
    expect(one).not.toBe(two);
  });

  it("opens in its own place only", () => {
    const sealed = sealer.seal("sig_mine", place);

    expect(() => sealer.open(sealed, "the signing key of you")).toThrow(
      "the signing key of you is damaged, or was sealed for another place",
    );
  });

  it("does not open when anything of it was changed, at any place, or cut off", () => {
    const sealed = sealer.seal("sig_mine", place);
    const bodyAt = sealed.lastIndexOf(".") + 1;
    for (let at = bodyAt; at < sealed.length; at++) {
      const other = sealed[at] === "A" ? "B" : "A";
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      const isSameBytes =
        Buffer.from(changed.slice(bodyAt), "base64url").compare(
          Buffer.from(sealed.slice(bodyAt), "base64url"),
        ) === 0;

      if (!isSameBytes) expect(() => sealer.open(changed, place)).toThrow("is damaged");
    }
    for (const length of [bodyAt, bodyAt + 4, sealed.length - 4])
      expect(() => sealer.open(sealed.slice(0, length), place)).toThrow("is damaged");
  });
});

describe("a change of keys", () => {
  it("seals with the first, and opens with all", () => {
    const before = createSealer([oldKey]).seal("sig_mine", place);
    const both = createSealer([newKey, oldKey]);
    const after = both.seal("sig_mine", place);

    expect(both.open(before, place)).toBe("sig_mine");
    expect(createSealer([newKey]).open(after, place)).toBe("sig_mine");
    expect([both.isFresh(before), both.isFresh(after)]).toEqual([false, true]);
  });

  it("that drops a key too early says whose secret it was, and with which key", () => {
    const sealed = createSealer([oldKey]).seal("sig_mine", place);

    expect(() => createSealer([otherKey]).open(sealed, place)).toThrow(
      /^the signing key of me was sealed with the key [0-9a-f]{8}, which is not configured$/,
    );
  });

  it("never shows a key in a text or in an error", () => {
    const sealed = createSealer([oldKey]).seal("sig_mine", place);

    for (const form of ["hex", "base64", "base64url"] as const)
      expect(sealed).not.toContain(Buffer.from(oldKey).toString(form).slice(0, 16));
  });
});

describe("a sealer", () => {
  it("opens no text that is not sealed, and does not show it", () => {
    const { open } = createSealer([oldKey]);

    expect(() => open("sig_plain", place)).toThrow(/^the signing key of me is not sealed$/);
  });

  it("wants keys, of the right length", () => {
    expect(() => createSealer([])).toThrow("at least one key");
    expect(() => createSealer([oldKey, new Uint8Array(31)])).toThrow("32 bytes");
  });
});
