/** One line for people, as the dev profile prints it: `14:03:07.123 warn  message.attempted id=msg_1 status=500`. */
export const levels = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof levels)[number];

export function humanLine(
  at: number,
  level: Level,
  event: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  const time = new Date(at).toISOString().slice(11, 23);
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${shown(value)}`);
  return `${time} ${level.padEnd(5)} ${event}${pairs.join("")}\n`;
}

/** Quotes a value as JSON unless it is one plain word: a value cannot start a line of its own or another field. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).join(",");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[\w.:/@+\-[\]]+$/.test(text) ? text : quoted(text);
}

/** JSON.stringify leaves the C1 controls as they are, and terminals obey them. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
