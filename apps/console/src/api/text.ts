const controls =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Shows characters that would hide or reorder their neighbours as numbers. */
const numbered = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns the text, visibly cut if it is too long. */
export function shown(value: string | number | undefined, charsMax = 200): string {
  if (value === undefined) return "";
  const text = String(value);
  const cut = text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
  return cut.replace(controls, numbered);
}

export function decoded(base64: string): { readonly text: string; readonly isBinary: boolean } {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), isBinary: false };
  } catch {
    return { text: base64, isBinary: true };
  }
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Returns the two largest units that are not zero: `850 ms`, `1.2 s`, `3 min 20 s`, `2 d 4 h`. */
export function durationOf(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 10_000) return `${(Math.floor(whole / 100) / 10).toFixed(1)} s`;
  if (whole < minuteMs) return `${Math.floor(whole / 1_000)} s`;
  if (whole < hourMs) return both(whole, minuteMs, "min", 1_000, "s");
  return whole < dayMs
    ? both(whole, hourMs, "h", minuteMs, "min")
    : both(whole, dayMs, "d", hourMs, "h");
}

function both(ms: number, large: number, ofLarge: string, small: number, ofSmall: string): string {
  const rest = Math.floor((ms % large) / small);
  const first = `${Math.floor(ms / large)} ${ofLarge}`;
  return rest === 0 ? first : `${first} ${rest} ${ofSmall}`;
}

export const counted = (count: number, what: string): string =>
  `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

const dateMax = 8.64e15;

/** Returns UTC as `2026-11-25 02:24:13.120`, or an empty text without a time. */
export function utcOf(ms: number | undefined): string {
  if (ms === undefined || ms <= 0 || ms > dateMax) return "";
  return new Date(ms).toISOString().replace("T", " ").replace("Z", "");
}

/** Returns `just now`, `40 s ago` or `in 3 min 20 s`. */
export function agoOf(ms: number, now: number): string {
  const past = now - ms;
  if (Math.abs(past) < 1_000) return "just now";
  return past > 0 ? `${durationOf(past)} ago` : `in ${durationOf(-past)}`;
}

/** Returns the time in the browser's zone, `14:03:07`, with the date unless it is today's. */
export function localOf(ms: number, now: number): string {
  const date = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, "0");
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  if (Math.abs(now - ms) < dayMs && new Date(now).getDate() === date.getDate()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

export const wordsOf = (reason: unknown): string => {
  const { message } = Object(reason) as { readonly message?: unknown };
  return shown(typeof message === "string" ? message : String(reason), 500);
};
