import { describe, expect, it } from "@jest/globals";
import { virtualClock } from "@posthaste/testing";
import { createCounted } from "./counted.ts";
import { exposition } from "./exposition.ts";

const opened = (service: Parameters<typeof createCounted>[0] = "standalone") => {
  const clock = virtualClock();
  const counted = createCounted(service, clock);
  const lines = async () => exposition(await counted.read()).split("\n");
  return { clock, counted, lines };
};

describe("the counters of a process", () => {
  it("exist from the start, so that the first increase is seen as one", async () => {
    const { lines } = opened();

    expect(await lines()).toContain('posthaste_attempts_total{outcome="unreachable"} 0');
  });

  it("is added up by label", async () => {
    const { counted, lines } = opened();

    counted.count("posthaste_attempts_total", "delivered");
    counted.count("posthaste_attempts_total", "delivered", 2);
    counted.count("posthaste_attempts_total", "refused");

    const text = await lines();
    expect(text).toContain('posthaste_attempts_total{outcome="delivered"} 3');
    expect(text).toContain('posthaste_attempts_total{outcome="refused"} 1');
  });

  it("is only of metrics that its service reports", async () => {
    const { counted, lines } = opened("management");

    counted.count("posthaste_attempts_total", "delivered");
    counted.observe("posthaste_commit_seconds", 1);

    expect((await lines()).join("\n")).not.toMatch(/attempts|commit/);
  });
});

describe("a histogram", () => {
  it("counts values at or below each bound, and all values below +Inf", async () => {
    const { counted, lines } = opened();

    for (const writes of [1, 2, 3, 5_000]) counted.observe("posthaste_commit_writes", writes);

    const text = await lines();
    expect(text).toContain('posthaste_commit_writes_bucket{le="1"} 1');
    expect(text).toContain('posthaste_commit_writes_bucket{le="2"} 2');
    expect(text).toContain('posthaste_commit_writes_bucket{le="4"} 3');
    expect(text).toContain('posthaste_commit_writes_bucket{le="1024"} 3');
    expect(text).toContain('posthaste_commit_writes_bucket{le="+Inf"} 4');
    expect(text).toContain("posthaste_commit_writes_sum 5006");
    expect(text).toContain("posthaste_commit_writes_count 4");
  });
});

describe("watched metrics", () => {
  it("are read at a scrape, and a gauge not again for five seconds", async () => {
    const { clock, counted, lines } = opened();
    let asked = 0;
    counted.watch("posthaste_lane_depth", async () => ++asked);

    const first = await lines();
    const second = await lines();
    await clock.advance(5_000);
    const third = await lines();

    expect(first).toContain("posthaste_lane_depth 1");
    expect(second).toContain("posthaste_lane_depth 1");
    expect(third).toContain("posthaste_lane_depth 2");
  });

  it("are read each time if they are counters", async () => {
    const { counted, lines } = opened("gateway");
    let calls = 0;
    counted.watch("posthaste_store_calls_total", () => ++calls);

    const texts = [await lines(), await lines()];

    expect(texts[0]).toContain("posthaste_store_calls_total 1");
    expect(texts[1]).toContain("posthaste_store_calls_total 2");
  });

  it("are left out when their read fails, and no other metric is", async () => {
    const { counted, lines } = opened();
    counted.watch("posthaste_lane_depth", () => Promise.reject(new Error("the store is away")));
    counted.watch("posthaste_dead_letters", () => 7);

    const text = await lines();

    expect(text.filter((line) => line.startsWith("posthaste_lane_depth"))).toEqual([]);
    expect(text).toContain("posthaste_dead_letters 7");
  });

  it("are left out when the answer takes longer than two seconds, and read once meanwhile", async () => {
    const { clock, counted, lines } = opened();
    let asked = 0;
    counted.watch("posthaste_lane_depth", () => {
      asked++;
      return new Promise(() => undefined);
    });

    const texts = [lines(), lines()];
    await clock.advance(2_000);

    for (const text of await Promise.all(texts))
      expect(text.filter((line) => line.startsWith("posthaste_lane_depth"))).toEqual([]);
    expect(asked).toBe(1);
  });
});
