import { type Clock, type Log, type LogFields } from "@posthaste/ports";
import { pino } from "pino";
import { loggable } from "./fields.ts";
import { humanLine, type Level, levels } from "./human-line.ts";
import { humanOutput, jsonOutput } from "./standard-output.ts";

export type LogOptions = {
  readonly service: string;
  readonly level: Level;
  /** `human`: a short line for a terminal. `json`: one object a line. */
  readonly format: "human" | "json";
  readonly clock: Clock;
  readonly write?: (line: string) => void;
};

/** The port Log. Lines are written at once, since the last one before a crash is the most important. */
export function createLog(options: LogOptions): Log {
  const emit = options.format === "json" ? jsonEmitter(options) : humanEmitter(options);
  const lowest = levels.indexOf(options.level);
  const at =
    (level: Level) =>
    (event: string, fields: LogFields = {}): void => {
      if (levels.indexOf(level) >= lowest) emit(level, event, loggable(fields));
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    debugs: options.level === "debug",
  };
}

type Emit = (level: Level, event: string, fields: Readonly<Record<string, unknown>>) => void;

function jsonEmitter({ service, level, clock, write }: LogOptions): Emit {
  const logger = pino(
    {
      level,
      base: { service },
      messageKey: "event",
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    write ? { write } : jsonOutput(),
  );
  return (severity, event, fields) => logger[severity](fields, event);
}

function humanEmitter({ clock, write = humanOutput() }: LogOptions): Emit {
  return (level, event, fields) => write(humanLine(clock.now(), level, event, fields));
}
