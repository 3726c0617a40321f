/** The two dialects of the wire: all that differs between them. */
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
