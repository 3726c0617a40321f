import { describe, expect, it } from "@jest/globals";
import { accept } from "@posthaste/domain";
import { aMessage, aTenant, virtualClock } from "@posthaste/testing";
import { createBacklogs } from "./backlog.ts";

function opened({ n, tookMs }: { readonly n: number; readonly tookMs: number }) {
  const clock = virtualClock();
  let counts = 0;
  const backlogs = createBacklogs(clock, async () => {
    counts += 1;
    await new Promise<void>((resolve) => clock.after(tookMs, resolve));
    return n;
  });
  const insert = (count: number): void =>
    backlogs.inserting(Array.from({ length: count }, () => accept(aMessage(), clock.now())));
  return { backlogs, clock, insert, counts: () => counts };
}

describe("a backlog whose count takes ten seconds", () => {
  it("has the records inserted since the count began", async () => {
    const { backlogs, clock, insert } = opened({ n: 5, tookMs: 10_000 });
    const first = backlogs.of(aTenant);
    insert(40);
    await clock.advance(10_000);
    insert(2);

    expect(await first).toBe(5);
    expect(await backlogs.of(aTenant)).toBe(47);
  });

  it("is counted again after enough arrivals, and otherwise seldom", async () => {
    const { backlogs, clock, counts, insert } = opened({ n: 5, tookMs: 10_000 });
    void backlogs.of(aTenant);
    await clock.advance(10_000);
    insert(999);
    await backlogs.of(aTenant);
    const before = counts();
    insert(1);
    await backlogs.of(aTenant);

    expect([before, counts()]).toEqual([1, 2]);
    await clock.advance(10_000);
    expect(await backlogs.of(aTenant)).toBe(5);
  });

  it("has its true age, wherever the clock is set", async () => {
    const { backlogs, clock, counts } = opened({ n: 5, tookMs: 0 });
    clock.set(172_800_000);
    const first = backlogs.of(aTenant);
    await clock.advance(1);
    await first;
    clock.set(-172_800_000);
    await clock.advance(1_000);
    await backlogs.of(aTenant);

    expect(counts()).toBe(2);
  });
});
