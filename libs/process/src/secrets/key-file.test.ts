import { beforeEach, describe, expect, it } from "@jest/globals";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { keyInFile } from "./key-file.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const file = () => join(folder, "sealing.key");

describe("the key in a folder", () => {
  it("is made at first use, for its owner only, and stays", () => {
    const made = keyInFile(folder, true);

    expect(made).toHaveLength(32);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["sealing.key"]);
    expect(keyInFile(folder, true)).toEqual(made);
    expect(keyInFile(folder, false)).toEqual(made);
  });

  it("is another one in another folder", () => {
    const other = temporaryFolder();

    expect(keyInFile(other, true)).not.toEqual(keyInFile(folder, true));
  });

  it("is not made for an operator that has keys", () => {
    expect(keyInFile(folder, false)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("that a crash left half-written is made anew", () => {
    writeFileSync(`${file()}.new`, "ha");

    expect(keyInFile(folder, true)).toHaveLength(32);
    expect(readdirSync(folder)).toEqual(["sealing.key"]);
  });

  it("that is damaged is left unchanged, and reported", () => {
    writeFileSync(file(), "AAAA\n");

    expect(() => keyInFile(folder, true)).toThrow("holds no sealing key: restore it from a backup");
    expect(readFileSync(file(), "utf8")).toBe("AAAA\n");
  });
});
