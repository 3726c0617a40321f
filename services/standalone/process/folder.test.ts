import { beforeEach, describe, expect, it } from "@jest/globals";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openEmbedded } from "@posthaste/embedded";
import { recordingLog, seededRandom, virtualClock } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { backUp, firstSecrets, restore } from "./folder.ts";

let folder: string;
let dataDir: string;
beforeEach(async () => {
  folder = temporaryFolder();
  dataDir = join(folder, "data");
  const made = firstSecrets(dataDir, {});
  expect(Object.keys(made)).toHaveLength(4);
  writeFileSync(join(dataDir, "sealing.key"), "a key", { mode: 0o600 });
  const parts = { clock: virtualClock(), random: seededRandom(1), log: recordingLog() };
  await openEmbedded({ dataDir, ...parts, reserveBytes: 0 }).close();
});

const secretIn = (of: string, name: string): string =>
  readFileSync(join(of, "secrets", name), "utf8");

describe("the first secrets", () => {
  it("are made once, for their owner only", () => {
    const token = secretIn(dataDir, "token");

    expect(firstSecrets(dataDir, {})).toEqual({
      POSTHASTE_TOKEN_FILE: join(dataDir, "secrets/token"),
      POSTHASTE_SIGNING_KEY_CURRENT_FILE: join(dataDir, "secrets/signing-key-current"),
      POSTHASTE_SIGNING_KEY_NEXT_FILE: join(dataDir, "secrets/signing-key-next"),
      POSTHASTE_MANAGEMENT_PASSWORD_FILE: join(dataDir, "secrets/management-password"),
    });
    expect(secretIn(dataDir, "token")).toBe(token);
    expect(statSync(join(dataDir, "secrets")).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, "secrets/token")).mode & 0o777).toBe(0o600);
  });

  it("are not made where the environment has them", () => {
    const elsewhere = join(folder, "elsewhere");

    const made = firstSecrets(elsewhere, {
      POSTHASTE_TOKEN: "one",
      POSTHASTE_SIGNING_KEY_CURRENT_FILE: "/run/key",
    });

    expect(Object.keys(made)).toEqual([
      "POSTHASTE_SIGNING_KEY_NEXT_FILE",
      "POSTHASTE_MANAGEMENT_PASSWORD_FILE",
    ]);
    expect(readdirSync(join(elsewhere, "secrets")).toSorted()).toEqual([
      "management-password",
      "signing-key-next",
    ]);
  });
});

describe("a copy of the folder", () => {
  it("has secrets if they are requested, and is complete otherwise", () => {
    const [copy, other] = [join(folder, "copy"), join(folder, "other")];

    expect(backUp(dataDir, copy, true)).toMatchObject({ hasKey: true });
    expect(restore(copy, other)).toMatchObject({ hasKey: true });

    expect(readdirSync(join(other, "secrets"))).toEqual(readdirSync(join(dataDir, "secrets")));
    expect(secretIn(other, "token")).toBe(secretIn(dataDir, "token"));
    expect(statSync(join(other, "secrets")).mode & 0o777).toBe(0o700);
    expect(statSync(join(other, "secrets/token")).mode & 0o777).toBe(0o600);
  });

  it("has no secrets otherwise, and says so", () => {
    const [copy, other] = [join(folder, "copy"), join(folder, "other")];

    expect(backUp(dataDir, copy, false)).toMatchObject({ hasKey: false });
    expect(readdirSync(copy)).toEqual(["posthaste.db"]);
    expect(restore(copy, other)).toMatchObject({ hasKey: false });
  });

  it("is made of nothing but a data folder, and nothing is made otherwise", () => {
    const [none, copy] = [join(folder, "none"), join(folder, "copy")];

    expect(() => backUp(none, copy, true)).toThrow(`${none} has no posthaste.db`);
    expect(() => restore(none, copy)).toThrow(`${none} has no posthaste.db`);
    expect(readdirSync(folder)).toEqual(["data"]);
  });

  it("replaces no existing secret", () => {
    const [copy, other] = [join(folder, "copy"), join(folder, "other")];
    backUp(dataDir, copy, true);
    firstSecrets(other, {});
    const token = secretIn(other, "token");

    restore(copy, other);

    expect(secretIn(other, "token")).toBe(token);
    expect(existsSync(join(other, "sealing.key"))).toBe(true);
  });
});
