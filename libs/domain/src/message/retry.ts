/**
 * Decides when the next attempt is made: by the default back-off, the caller's expression, or the wait that the destination requested
 * for.
 */
import { untilMs } from "../shared/time.ts";
import { parseHttpDate } from "../shared/http-date.ts";
import {
  backoffJitterMsMax,
  deferralMsMax,
  deferralMsMin,
  retryAfterMsMax,
  retryDelayMsMax,
} from "../shared/limits.ts";
import { type Headers } from "./headers.ts";

/**
 * `min(86400, e^(2.5 n))` seconds before retry n, with n = 1 for the first. Jitter adds up to 1 s, and subtracts nothing
 * (docs/design/delivery#retries).
 */
export function backoffMs(retried: number, chance: number): number {
  const seconds = Math.min(86_400, Math.exp(2.5 * (retried + 1)));
  return Math.round(seconds * 1_000 + chance * backoffJitterMsMax);
}

/** Returns the value of a caller's expression as a delay of at most a day. A negative value or no number is no delay. */
export const clampRetryDelayMs = (value: number): number =>
  Math.min(Math.max(Math.round(value) || 0, 0), retryDelayMsMax);

export const deferralMs = (deferrals: number): number =>
  Math.min(deferralMsMin * 2 ** Math.min(deferrals, 16), deferralMsMax);

/** In order of precedence (docs/design/delivery#retries). */
const waitHeaders = [
  "retry-after",
  "x-ratelimit-reset",
  "x-ratelimit-reset-requests",
  "x-ratelimit-reset-tokens",
];

/**
 * Returns the milliseconds that the destination asked to wait, 0 for at once; undefined if it asked for nothing, for
 * nonsense, or for more than 24 h.
 */
export function requestedWaitMs(headers: Headers, now: number): number | undefined {
  for (const wanted of waitHeaders) {
    const value = headers.find(([name]) => name.toLowerCase() === wanted)?.[1].trim();
    if (value === undefined) continue;
    const waitMs = parseWait(value, now);
    if (waitMs !== undefined && waitMs <= retryAfterMsMax) return waitMs;
  }
  return undefined;
}

/** Parses integer seconds, an HTTP date (a past one means now), or a Go duration such as `6m5s` or `1.5s`. */
function parseWait(value: string, now: number): number | undefined {
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const at = parseHttpDate(value, now);
  return at === undefined ? parseGoDuration(value) : untilMs(at, Infinity, now);
}

const goUnitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 36e5,
};
const goTextLengthMax = 64;

function parseGoDuration(text: string): number | undefined {
  if (text.length === 0 || text.length > goTextLengthMax) return undefined;
  const part = /(\d{1,9}(?:\.\d{1,9})?)(ns|us|µs|μs|ms|s|m|h)/y;
  let totalMs = 0;
  let at = 0;
  while (at < text.length) {
    part.lastIndex = at;
    const match = part.exec(text);
    if (!match) return undefined;
    totalMs += Number(match[1]) * (goUnitMs[match[2] ?? ""] ?? 0);
    at = part.lastIndex;
  }
  return Math.ceil(totalMs);
}
