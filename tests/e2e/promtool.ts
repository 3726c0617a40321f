import { it } from "@jest/globals";
import { checkMetrics, hasPrometheus } from "@posthaste/local";
import { scrape } from "./metrics.ts";

/** The tool may have to be fetched. */
const msMax = 10 * 60_000;

/** Skips the test, with the reason in its name, on a host that has no promtool and cannot fetch it. */
export function itReadsLikePrometheus(name: string, port: () => number): void {
  const title = `of the ${name} are metrics to Prometheus, with nothing that it objects to`;
  if (!hasPrometheus())
    it.skip(`${title} (not checked: this host has no promtool)`, () => undefined);
  else it(title, async () => checkMetrics((await scrape(port())).text), msMax);
}
