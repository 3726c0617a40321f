import { describe, expect, it } from "@jest/globals";
import { aClaimedRecord } from "@posthaste/testing";
import { expectAllGivenBack } from "@posthaste/testing/give-back";
import { openRecent } from "./in-memory.ts";

const mebibyte = 1024 * 1024;
const recordOf = (bytes: number) => aClaimedRecord({ body: new Uint8Array(bytes) });

describe("recently inserted messages", () => {
  it("leave their bytes to the next ones, in whatever order they are dropped", async () => {
    // Everything that is added at the end of a history is within the bound.
    const sizes = [recordOf(0), recordOf(2 * mebibyte)];
    await expectAllGivenBack(() => {
      const recent = openRecent();
      let last = 0;
      const takes = sizes.map((record) => () => {
        const position = ++last;
        recent.add(position, record);
        const isHeld = () => recent.get(position) === record;
        return { giveBack: () => recent.drop(position), isHeld };
      });
      return { takes, held: () => undefined };
    });
  });

  it("leave their bytes to the next ones, however many were dropped before", () => {
    const recent = openRecent();
    const record = recordOf(2 * mebibyte);
    for (let position = 1; position <= 40; position++) {
      recent.add(position, record);
      recent.drop(position);
    }
    recent.add(41, record);

    expect(recent.get(41)).toBe(record);
  });

  it("are counted once if they are kept again at their position", () => {
    const recent = openRecent();
    const [before, record] = [recordOf(10 * mebibyte), recordOf(10 * mebibyte)];
    recent.add(1, before);
    for (let times = 0; times < 10; times++) recent.add(2, record);

    expect([recent.get(1) === before, recent.get(2) === record]).toEqual([true, true]);
  });
});
