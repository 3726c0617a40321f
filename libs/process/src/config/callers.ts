/** Variables of the command line, and of programs as in docs/client.md, that no service reads (ADR 175). */
export const callerVariables: Readonly<Record<`POSTHASTE_${string}`, string>> = {
  POSTHASTE_URL: "the server that `posthaste` and clients call",
  POSTHASTE_MANAGEMENT_URL: "the management API that they call",
  POSTHASTE_SIGNING_KEY: "the key that a receiver verifies deliveries with",
  POSTHASTE_NEXT_SIGNING_KEY: "the key of the next rotation",
};
