/**
 * Judges fields of log lines (docs/design/security#what-is-logged): an allow-list of names, and only values that
 * cannot hide a body. A field that is not on the list leaves its name in `dropped`, so that a missing entry is
 * noticed.
 */
import { type LogFields } from "@posthaste/ports";

export type LogLine = Readonly<Record<string, LogValue>>;
type LogValue = string | number | boolean | null | readonly (string | number | boolean)[];

/** Names of ids, sizes, states and durations are known by their endings. */
const endings = /(?:Id|Ids|Ms|Seconds|Bytes|Count|At|Max|Until|Hash|Index|Share)$/;
const names = new Set(
  `action address attempt attempts batch bytes canceled catcher claimed code config count dataDir dialect dlqId
  duplicates endpoints epoch error event events failed fenced from granted group hop host hosts id ids item items kind lag lane
  lanes left messages hints task limit limits method missing name node offset origin outcome owner partition pending phase pid port position profile
  pulled queue reason removed renewed retried retries rung scope seq service services shard shards signal size stack
  state states status stopped tenant times to topic truncated version waiting why`.split(/\s+/),
);

const textLengthMax = 512;
const listLengthMax = 32;
const stackLinesMax = 12;

export function loggable(fields: LogFields): Record<string, LogValue> {
  const line: Record<string, LogValue> = {};
  const dropped: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (Error.isError(value)) Object.assign(line, errorFields(value));
    else {
      const plain = names.has(name) || endings.test(name) ? plainValue(value) : undefined;
      if (plain === undefined) dropped.push(name.slice(0, textLengthMax));
      else line[name] = plain;
    }
  }
  if (dropped.length > 0) line["dropped"] = dropped.slice(0, listLengthMax);
  return line;
}

function plainValue(value: unknown): LogValue | undefined {
  if (typeof value === "string") return harmlessText(value);
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value;
  return Array.isArray(value) ? plainList(value) : undefined;
}

function plainList(values: readonly unknown[]): LogValue | undefined {
  const plain: (string | number | boolean)[] = [];
  for (const value of values.slice(0, listLengthMax)) {
    if (typeof value === "string") plain.push(harmlessText(value));
    else if (typeof value === "number" || typeof value === "boolean") plain.push(value);
    else return undefined;
  }
  if (values.length > listLengthMax) plain.push(`… ${values.length - listLengthMax} more`);
  return plain;
}

/** Returns the frames of a stack without its first line, which repeats the message, uncut. */
function errorFields(error: Error): Record<string, LogValue> {
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const cause = Error.isError(error.cause) ? harmlessText(error.cause.message) : undefined;
  const frames = (error.stack ?? "").split("\n").filter((line) => line.startsWith("    at "));
  return {
    error: harmlessText(`${error.name}: ${error.message}`),
    ...(code !== undefined && { code }),
    ...(cause !== undefined && { cause }),
    ...(frames.length > 0 && {
      stack: frames
        .slice(0, stackLinesMax)
        .map((line) => line.trim())
        .join(" < "),
    }),
  };
}

/** Removes secrets from texts of other programs: queries and user names of URLs, and bearer tokens. */
function harmlessText(text: string): string {
  const cut = text.length > textLengthMax ? `${text.slice(0, textLengthMax)}…` : text;
  if (!cut.includes("://") && !/\b(?:bearer|basic) /i.test(cut)) return cut;
  return cut
    .replace(/:\/\/[^/?#\s@"']*@/g, "://…@")
    .replace(/(:\/\/[^\s?#"'<>]*)[?#][^\s"'<>]*/g, "$1?…")
    .replace(/\b(bearer|basic) +[^\s"',]+/gi, "$1 …");
}
