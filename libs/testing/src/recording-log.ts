/** A log that keeps its lines, for tests that check what was logged and what must never be logged. */
import { type Log, type LogFields } from "@posthaste/ports";

export type LogLine = {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly event: string;
  readonly fields: LogFields;
};

export type RecordingLog = Log & {
  readonly lines: readonly LogLine[];
  events(): readonly string[];
};

/** Beyond this, the oldest line is dropped: a simulation may run for long. */
const linesMax = 100_000;

export function recordingLog(debugs = true): RecordingLog {
  const lines: LogLine[] = [];
  const at =
    (level: LogLine["level"]) =>
    (event: string, fields: LogFields = {}): void => {
      if (lines.length === linesMax) lines.shift();
      lines.push({ level, event, fields });
    };
  return {
    debug: debugs ? at("debug") : () => undefined,
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    debugs,
    lines,
    events: () => lines.map(({ event }) => event),
  };
}
