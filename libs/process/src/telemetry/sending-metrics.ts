import { endsWithin, type Service } from "@posthaste/ports";
import { type Counted } from "./counted.ts";
import type { OtlpMetrics } from "./otlp-metrics.ts";
import { closeMsMax, type OtlpOptions } from "./bounds.ts";

export type SendingMetricsOptions = {
  readonly counted: Pick<Counted, "read">;
  readonly everyMs: number;
  readonly collector: OtlpOptions;
};

/** Sends the numbers of a process to a collector at regular times, and once more at the end. One request is under way at a time. */
export function sendMetrics({ counted, everyMs, collector }: SendingMetricsOptions): Service {
  const { clock } = collector;
  let otlp: OtlpMetrics | undefined;
  let cancel: () => void = () => undefined;

  async function send(): Promise<void> {
    await otlp?.send();
    if (otlp) cancel = clock.after(everyMs, () => void send());
  }

  return {
    name: "metrics.sending",
    start: async () => {
      const { openOtlpMetrics } = await import("./otlp-metrics.ts");
      otlp = await openOtlpMetrics(counted, collector);
      cancel = clock.after(everyMs, () => void send());
    },
    stop: async () => {
      cancel();
      const last = otlp;
      otlp = undefined;
      if (last)
        await endsWithin(
          clock,
          closeMsMax,
          last.send().then(() => last.close()),
        );
    },
  };
}
