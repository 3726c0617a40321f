import { endsWithin, type Service } from "@posthaste/ports";
import { type Line } from "../log/copied-log.ts";
import type { OtlpLogs } from "./otlp-logs.ts";
import { closeMsMax, type OtlpOptions } from "./bounds.ts";

/** Lines that are written before the SDK is loaded. */
const earlyMax = 256;

/** Sends copies of lines to a collector. Lines after its end are in the log alone. */
export function sendLogs(collector: OtlpOptions): {
  readonly copy: (line: Line) => void;
  readonly sending: Service;
} {
  let early: Line[] = [];
  let otlp: OtlpLogs | undefined;
  let hasEnded = false;
  return {
    copy: (line) => {
      if (otlp) otlp.send(line);
      else if (!hasEnded && early.length < earlyMax) early.push(line);
    },
    sending: {
      name: "logs.sending",
      start: async () => {
        const { openOtlpLogs } = await import("./otlp-logs.ts");
        const opened = await openOtlpLogs(collector);
        otlp = opened;
        for (const line of early) opened.send(line);
        early = [];
      },
      stop: async () => {
        const closing = otlp?.close();
        otlp = undefined;
        hasEnded = true;
        if (closing) await endsWithin(collector.clock, closeMsMax, closing);
      },
    },
  };
}
