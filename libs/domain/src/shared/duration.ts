/**
 * A duration is `<int><unit>`, one or more times, with the units s, m, h and d; a bare number means seconds
 * (docs/design/wire#values). Only seconds may have a fraction: clients of workflows take numbers and send them with an `s`.
 */
const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const textLengthMax = 64;

/** Returns milliseconds, or undefined when the text is no duration. Linear in a bounded text. */
export function parseDuration(text: string): number | undefined {
  if (text.length === 0 || text.length > textLengthMax) return undefined;
  if (/^\d{1,9}(\.\d{1,15})?s?$/.test(text)) return Math.round(Number.parseFloat(text) * 1_000);
  let totalMs = 0;
  let at = 0;
  const part = /(\d{1,9})([smhd])/y;
  while (at < text.length) {
    part.lastIndex = at;
    const match = part.exec(text);
    if (!match) return undefined;
    totalMs += Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
    at = part.lastIndex;
  }
  return totalMs;
}
