/** A log that keeps its lines, for tests that ask what was said and what must never be. */
import { type Log, type LogFields } from "@posthaste/ports";

export type LogLine = {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly event: string;
  readonly fields: LogFields;
};

export type RecordingLog = Log & {
  readonly lines: readonly LogLine[];
  /** The events said, oldest first. */
  events(): readonly string[];
};

/** Older lines give way: a simulation may run for long. */
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
