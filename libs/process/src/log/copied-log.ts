import { type Clock, type Log, type LogFields } from "@posthaste/ports";
import { loggable, type LogLine } from "./fields.ts";
import { type Level, levels } from "./human-line.ts";

/** A line as it is written: it has the written fields only. */
export type Line = {
  /** Unix milliseconds. */
  readonly at: number;
  readonly level: Level;
  readonly event: string;
  readonly fields: LogLine;
};

/** Passes a copy of each line at `lowest` or above to `copy`. */
export function copiedLog(
  log: Log,
  { lowest, clock, copy }: { lowest: Level; clock: Pick<Clock, "now">; copy: (line: Line) => void },
): Log {
  const copied =
    (level: Level) =>
    (event: string, fields: LogFields = {}): void => {
      log[level](event, fields);
      if (levels.indexOf(level) >= levels.indexOf(lowest))
        copy({ at: clock.now(), level, event, fields: loggable(fields) });
    };
  return {
    debug: copied("debug"),
    info: copied("info"),
    warn: copied("warn"),
    error: copied("error"),
    debugs: log.debugs,
  };
}
