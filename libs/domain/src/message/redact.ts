/**
 * Redaction: every read shows `REDACTED:<SHA256 hex>` in place of a value; deliveries use the originals
 * (docs/design/wire#redaction).
 */
import { type Headers } from "./headers.ts";
import { type Configuration, type Message } from "./message.ts";
import { type CallbackPlan, type Redaction } from "./policy.ts";

/** SHA-256 in hex. Passed in, since the domain has no cryptography of its own. */
export type Sha256Hex = (value: string | Uint8Array) => string;

export const redacted = (value: string | Uint8Array, sha256: Sha256Hex): string =>
  `REDACTED:${sha256(value)}`;

export function redactsHeader(redaction: Redaction | undefined, name: string): boolean {
  if (!redaction) return false;
  return redaction.headers === "all" || redaction.headers.includes(name.toLowerCase());
}

/** Returns the redaction that hides what either hides. */
export function bothRedactions(
  one: Redaction | undefined,
  other: Redaction | undefined,
): Redaction | undefined {
  if (!one || !other) return one ?? other;
  const areAll = one.headers === "all" || other.headers === "all";
  const headers = areAll ? "all" : [...new Set([...one.headers, ...other.headers])];
  return { body: one.body || other.body, headers };
}

export function redactHeaders(
  headers: Headers,
  redaction: Redaction | undefined,
  sha256: Sha256Hex,
): Headers {
  if (!redaction || (redaction.headers !== "all" && redaction.headers.length === 0)) return headers;
  return headers.map(([name, value]) => [
    name,
    redactsHeader(redaction, name) ? redacted(value, sha256) : value,
  ]);
}

/**
 * Returns the redaction of a callback. A callback's body contains its source's body and headers, so it is hidden if either is
 * (docs/design/wire#redaction).
 */
export function inheritedRedaction(source: Message): Redaction | undefined {
  const { redaction } = source.policy;
  if (!redaction) return undefined;
  return { body: true, headers: redaction.headers };
}

/** Returns a message as facts and logs carry it: without its body, with the caller's redactions made. */
export function redactedConfiguration(message: Message, sha256: Sha256Hex): Configuration {
  const { body: _, ...configuration } = message;
  const { redaction, callback, failureCallback } = message.policy;
  if (!redaction) return configuration;
  const hide = (plan: CallbackPlan): CallbackPlan => ({
    ...plan,
    headers: redactHeaders(plan.headers, redaction, sha256),
  });
  return {
    ...configuration,
    headers: redactHeaders(message.headers, redaction, sha256),
    policy: {
      ...message.policy,
      ...(callback && { callback: hide(callback) }),
      ...(failureCallback && { failureCallback: hide(failureCallback) }),
    },
  };
}
