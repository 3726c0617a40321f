import { describe, expect, it } from "@jest/globals";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { virtualClock } from "@posthaste/testing";
import { newDirectory } from "../opened.fixture.ts";
import { isNearlyFull, openFreeSpace, type Space } from "./free-space.ts";
import { openReserve } from "./reserve.ts";

const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;

describe("the space that is reserved for accepted messages", () => {
  it.each<[string, Space, boolean]>([
    [
      "a small disk with 65 MiB left has room",
      { totalBytes: gibibyte, freeBytes: 65 * mebibyte },
      false,
    ],
    [
      "a small disk with 63 MiB left has none",
      { totalBytes: gibibyte, freeBytes: 63 * mebibyte },
      true,
    ],
    ["a disk of 10 GiB keeps 5 %", { totalBytes: 10 * gibibyte, freeBytes: 500 * mebibyte }, true],
    [
      "a disk of 10 TiB keeps 1 GiB, not 500",
      { totalBytes: 10_240 * gibibyte, freeBytes: 2 * gibibyte },
      false,
    ],
  ])("%s", (_, space, expected) => {
    expect(isNearlyFull(space)).toBe(expected);
  });

  it("refuses while it is used up and accepts again when it is free, with a look a second at most", async () => {
    const clock = virtualClock();
    let freeBytes = 0;
    let looks = 0;
    const said: boolean[] = [];
    const { check } = openFreeSpace({
      clock,
      first: { totalBytes: gibibyte, freeBytes: gibibyte },
      read: () => {
        looks++;
        return Promise.resolve({ totalBytes: gibibyte, freeBytes });
      },
      onChange: (nearlyFull) => said.push(nearlyFull),
    });

    for (let n = 0; n < 100; n++) check();
    await clock.advance(1_000);
    check();
    await clock.advance(0);
    expect(check).toThrow("the disk is nearly full");
    freeBytes = gibibyte;
    await clock.advance(1_000);
    expect(check).toThrow("the disk is nearly full");
    await clock.advance(0);

    expect(check).not.toThrow();
    expect([looks, said]).toEqual([2, [true, false]]);
  });
});

describe("the reserve", () => {
  it("occupies its space on the disk, gives it up once, and can be built again", async () => {
    const dataDir = newDirectory();
    const path = join(dataDir, "reserve");
    const reserve = openReserve(dataDir, 2 * mebibyte);

    await reserve.build();
    const { size, blocks } = statSync(path);
    const given = [reserve.giveUp(), reserve.giveUp()];

    expect(size).toBe(2 * mebibyte);
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
    expect(given).toEqual([true, false]);
    expect(existsSync(path)).toBe(false);
    await reserve.build();
    expect(existsSync(path)).toBe(true);
  });

  it("reports missing bytes until it is built, and again when it was given up", async () => {
    const reserve = openReserve(newDirectory(), 2 * mebibyte);

    const before = reserve.missingBytes();
    await reserve.build();
    const built = reserve.missingBytes();
    reserve.giveUp();

    expect([before, built, reserve.missingBytes()]).toEqual([2 * mebibyte, 0, 2 * mebibyte]);
  });

  it("of no size is never built", async () => {
    const dataDir = newDirectory();

    await openReserve(dataDir, 0).build();

    expect(existsSync(join(dataDir, "reserve"))).toBe(false);
  });
});
