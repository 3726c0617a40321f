/** The two dialects of the wire: what differs between them is said here and nowhere else. */
import { type Dialect } from "@posthaste/domain";

export type DialectNames = {
  /** Of every configuration header, and of every header that we add to a delivery. */
  readonly prefix: string;
  readonly userAgent: string;
  /** The `iss` claim of a signature. */
  readonly issuer: string;
};

/** docs/design/wire#dialects. */
export const dialects: Readonly<Record<Dialect, DialectNames>> = {
  service: { prefix: "Service-", userAgent: "Posthaste", issuer: "Posthaste" },
  upstash: { prefix: "Upstash-", userAgent: "Upstash-QStash", issuer: "Upstash" },
};

/** Both prefixes have this length, so that a suffix is one slice. */
export const prefixLength = 8;

/** The family that a lower-case header name belongs to. */
export function dialectOf(lowerCaseName: string): Dialect | undefined {
  if (lowerCaseName.startsWith("upstash-")) return "upstash";
  if (lowerCaseName.startsWith("service-")) return "service";
  return undefined;
}
