/** The two dialects of the wire, with all differences between them. */
import { type Dialect } from "@posthaste/domain";

export type DialectNames = {
  /** The prefix of every configuration header, and of every header that is added to a delivery. */
  readonly prefix: string;
  readonly userAgent: string;
  /** The `iss` claim of a signature. */
  readonly issuer: string;
};

/** See docs/design/wire#dialects. */
export const dialects: Readonly<Record<Dialect, DialectNames>> = {
  service: { prefix: "Service-", userAgent: "Posthaste", issuer: "Posthaste" },
  upstash: { prefix: "Upstash-", userAgent: "Upstash-QStash", issuer: "Upstash" },
};

/** The length of both prefixes, so that a suffix is one slice. */
export const prefixLength = 8;

export function dialectOf(lowerCaseName: string): Dialect | undefined {
  if (lowerCaseName.startsWith("upstash-")) return "upstash";
  if (lowerCaseName.startsWith("service-")) return "service";
  return undefined;
}

/** Reports whether a header, whose name may be in any case, is the configuration header of this suffix. */
export function isNamed(name: string, suffix: string): boolean {
  if (name.length !== prefixLength + suffix.length) return false;
  const lower = name.toLowerCase();
  return lower.endsWith(suffix) && dialectOf(lower) !== undefined;
}

/** Returns the value of the first configuration header of this suffix. `rawHeaders`: names and values in turn. */
export function givenValue(rawHeaders: readonly string[], suffix: string): string | undefined {
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (isNamed(rawHeaders[i] ?? "", suffix)) return rawHeaders[i + 1]?.trim();
  return undefined;
}
