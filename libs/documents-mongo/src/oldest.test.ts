import { expect, it } from "@jest/globals";
import { virtualClock } from "@posthaste/testing";
import { createOldest } from "./oldest.ts";

it("the oldest running call is reported, and none when all have ended, failed ones included", async () => {
  const clock = virtualClock();
  const { during, waitMs } = createOldest(clock);
  const ends: (() => void)[] = [];
  const call = (fails: boolean) =>
    during(async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      if (fails) throw new Error("no");
    }).catch(() => undefined);
  const first = call(true);
  await clock.advance(300);
  const second = call(false);
  await clock.advance(200);

  expect(waitMs()).toBe(500);
  ends[0]?.();
  await first;
  expect(waitMs()).toBe(200);
  ends[1]?.();
  await second;
  expect(waitMs()).toBe(0);
});
