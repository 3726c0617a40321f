import { type Answer, type EndedAttempt, type Headers, type Outcome } from "@posthaste/domain";
import { epochStart } from "../virtual-clock.ts";

export const anAnswer = (
  status: number,
  overrides: { headers?: Headers; body?: string | Uint8Array; truncated?: boolean } = {},
): { readonly kind: "answered" } & Answer => ({
  kind: "answered",
  status,
  headers: overrides.headers ?? [],
  body:
    typeof overrides.body === "string"
      ? new TextEncoder().encode(overrides.body)
      : (overrides.body ?? new Uint8Array()),
  truncated: overrides.truncated ?? false,
});

export const aTimeout: Outcome = {
  kind: "unreachable",
  code: "timeout",
  text: "no answer within 60000 ms",
};

export const ourFailure: Outcome = {
  kind: "infrastructure",
  code: "out_of_sockets",
  text: "no socket was free",
};

export const aborted: Outcome = { kind: "aborted" };

export const anAttempt = (
  outcome: Outcome,
  { endedAt = epochStart + 1_000, tookMs = 250 }: { endedAt?: number; tookMs?: number } = {},
): EndedAttempt => ({ startedAt: endedAt - tookMs, endedAt, outcome });
