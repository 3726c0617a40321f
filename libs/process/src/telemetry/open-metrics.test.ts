import { describe, expect, it } from "@jest/globals";
import { virtualClock } from "@posthaste/testing";
import { createCounted } from "./counted.ts";
import { exposition } from "./exposition.ts";
import { openMetrics, wantsOpenMetrics } from "./open-metrics.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const sampled = `00-${traceId}-b7ad6b7169203331-01`;

const opened = () => {
  const clock = virtualClock();
  const counted = createCounted("standalone", clock);
  const lines = async () => openMetrics(await counted.read()).split("\n");
  return { clock, counted, lines };
};

describe("OpenMetrics", () => {
  it("is sent to scrapers that request it", () => {
    const ofPrometheus =
      "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

    expect([ofPrometheus, "*/*", "text/plain", undefined].map(wantsOpenMetrics)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it("declares counters without their ending, writes bounds as floats, and has an end mark", async () => {
    const { lines } = opened();

    const text = await lines();

    expect(text).toContain("# TYPE posthaste_attempts counter");
    expect(text).toContain('posthaste_attempts_total{outcome="delivered"} 0');
    expect(text).toContain('posthaste_commit_writes_bucket{le="1.0"} 0');
    expect(text.slice(-2)).toEqual(["# EOF", ""]);
  });

  it("leads from each bucket to the last trace in it", async () => {
    const { clock, counted, lines } = opened();
    const name = "posthaste_delivery_latency_seconds";

    counted.observe(name, 0.03, sampled.replace("0af7", "1af7"));
    counted.observe(name, 0.04, sampled);
    counted.observe(name, 0.045);

    expect(await lines()).toContain(
      `${name}_bucket{le="0.05"} 3 # {trace_id="${traceId}"} 0.04 ${clock.now() / 1_000}`,
    );
  });

  it("leads to no trace that is not sampled, and the plain text has none at all", async () => {
    const { counted, lines } = opened();
    const name = "posthaste_delivery_latency_seconds";

    counted.observe(name, 0.03, sampled.replace(/1$/, "0"));
    expect((await lines()).join("\n")).not.toContain("trace_id");

    counted.observe(name, 0.03, sampled);
    expect(exposition(await counted.read())).not.toContain("trace_id");
  });
});
