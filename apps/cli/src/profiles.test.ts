import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "@jest/globals";
import { profilesFile, readProfiles, writeProfiles } from "./profiles.ts";

const home = mkdtempSync(join(tmpdir(), "posthaste-profiles-"));

const env = { HOME: home };
const profiles = { current: "a", profiles: { a: { url: "http://a.example", token: "t" } } };

describe("profiles", () => {
  beforeEach(() => rmSync(join(home, ".config"), { recursive: true, force: true }));

  it("are none without a file", () => {
    expect(readProfiles(env)).toEqual({ profiles: {} });
  });

  it("are read as they were written, and only their owner may read the file, whatever its mode was before", () => {
    writeProfiles(env, { profiles: {} });
    writeFileSync(profilesFile(env), "{}", { mode: 0o644 });
    writeProfiles(env, profiles);

    expect(readProfiles(env)).toEqual(profiles);
    expect(statSync(profilesFile(env)).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(profilesFile(env))).mode & 0o777).toBe(0o700);
  });

  it.each(["", "[]", '{"profiles":{"a":{"url":1}}}', '{"profiles":{},"current":3}'])(
    "are not read from a file that holds something else: %j",
    (text) => {
      writeProfiles(env, profiles);
      writeFileSync(profilesFile(env), text);

      expect(() => readProfiles(env)).toThrow(/is not a file of profiles: remove it/);
    },
  );
});
