/** What one HTTP call came to. The destination's doing costs a retry; ours never does (docs/design/delivery#whose-doing-it-was). */
import { type Headers } from "./headers.ts";

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The body was cut at the cap, or the connection broke after a 2xx head (docs/design/delivery#whose-doing-it-was). */
  readonly truncated: boolean;
};

/** Why no answer came, where the destination is to blame. `text` is for people and holds no body and no header value. */
export type UnreachableCode =
  | "timeout"
  | "dns_failed"
  | "connect_failed"
  | "tls_failed"
  | "connection_lost"
  | "protocol_error"
  | "header_overflow"
  | "address_refused";

/** Why no attempt was possible, where we are to blame. */
export type InfrastructureCode = "out_of_sockets" | "resolver_down" | "internal";

export type Outcome =
  | ({ readonly kind: "answered" } & Answer)
  | { readonly kind: "unreachable"; readonly code: UnreachableCode; readonly text: string }
  | { readonly kind: "infrastructure"; readonly code: InfrastructureCode; readonly text: string }
  /** Cut short by us: cancelled, claim lost, or stopping. */
  | { readonly kind: "aborted" };

export const isSuccess = (outcome: Outcome): boolean =>
  outcome.kind === "answered" && outcome.status >= 200 && outcome.status <= 299;
