import { beforeEach, describe, expect, it } from "@jest/globals";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { cached } from "./cache.ts";

/** A pid that no process has: Linux gives out pids below 4,194,304. */
const deadPid = 2 ** 22 + 1;
let cache: string;

beforeEach(() => {
  cache = temporaryFolder();
});

async function makeFile(folder: string): Promise<void> {
  writeFileSync(join(folder, "file"), "");
}

describe("the cache", () => {
  it("makes an entry once for two processes that need it at the same time", async () => {
    let made = 0;
    const make = async (folder: string) => {
      made++;
      await sleep(100);
      await makeFile(folder);
    };

    const folders = await Promise.all([cached("a", make, cache), cached("a", make, cache)]);

    expect(new Set(folders)).toEqual(new Set([join(cache, "a")]));
    expect(made).toBe(1);
    expect(existsSync(join(cache, "a/file"))).toBe(true);
  });

  it("an entry that could not be made is absent, leaves nothing and is tried again", async () => {
    const making = cached(
      "a",
      async (folder) => {
        await makeFile(folder);
        throw new Error("no network");
      },
      cache,
    );
    await expect(making).rejects.toThrow("no network");
    expect(readdirSync(cache)).toEqual([]);

    await cached("a", makeFile, cache);

    expect(readdirSync(cache)).toEqual(["a"]);
  });

  it("a killed maker does not block others, and its leftovers are removed", async () => {
    writeFileSync(join(cache, "a.lock"), String(deadPid));
    mkdirSync(join(cache, `a.${deadPid}`));

    await cached("a", makeFile, cache);

    expect(readdirSync(cache)).toEqual(["a"]);
  });

  it("keeps another entry whose name begins alike", async () => {
    await cached("a.1b", makeFile, cache);

    await cached("a", makeFile, cache);

    expect(readdirSync(cache)).toEqual(["a", "a.1b"]);
  });
});
