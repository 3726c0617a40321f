/** The two dialects as a caller meets them, for `describe.each`. */
export const dialects = [
  { prefix: "Service-", issuer: "Posthaste", userAgent: "Posthaste" },
  { prefix: "Upstash-", issuer: "Upstash", userAgent: "Upstash-QStash" },
] as const;

type Values = Readonly<Record<string, string | readonly string[]>>;

/** Turns `{ Retries: "3" }` into `{ "Service-Retries": "3" }`. */
export const inDialect = (prefix: string, settings: Values): Values =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [prefix + name, value]));

/** The same for the `Service-` dialect, which most tests use. */
export const service = (settings: Values): Values => inDialect("Service-", settings);
