import { describe, expect, it } from "@jest/globals";
import { differences, parseLock } from "./checksums.ts";

const a = "a".repeat(64);
const b = "b".repeat(64);

describe("checksums", () => {
  it("a lock is read as sha256sum writes it", () => {
    const sums = parseLock(`${a}  one.jar\n${b} *two.jar\n`);

    expect(sums).toEqual(
      new Map([
        ["one.jar", a],
        ["two.jar", b],
      ]),
    );
  });

  it("a line that is none is refused, not passed over", () => {
    expect(() => parseLock(`${a}  one.jar\nabc  two.jar\n`)).toThrow("abc  two.jar");
  });

  it("missing, additional and different files are named", () => {
    const locked = new Map([
      ["gone", a],
      ["other", a],
      ["same", a],
    ]);
    const found = new Map([
      ["new", a],
      ["other", b],
      ["same", a],
    ]);

    expect(differences(locked, found)).toEqual([
      "gone is missing",
      "new is not in the lock",
      "other has another checksum",
    ]);
  });
});
