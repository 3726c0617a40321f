/**
 * The outcome of one HTTP call. A failure of the destination costs a retry; one of this service never does
 * (docs/design/delivery#failures-of-the-destination-and-of-ours).
 */
import { unreachable } from "../shared/unreachable.ts";
import { type Headers } from "./headers.ts";

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /**
   * `body` is not the whole answer: it was cut at the bound, or the connection broke after the head
   * (docs/design/delivery#half-an-answer).
   */
  readonly truncated: boolean;
};

/** The part of an attempt's answer that the log keeps. `bytes`: of the body, as far as this was received. */
export type Answered = { readonly status: number; readonly bytes: number };

/**
 * Why an answer ended early and before the bound: its connection broke or its time ran out, this service had no memory
 * for more, or this service aborted the call.
 */
export type BrokenBy = "destination" | "room" | "abort";

/** Why no answer came, if that is the destination's fault. `text` is for people and contains no body and no header value. */
export type UnreachableCode =
  | "timeout"
  | "dns_failed"
  | "connect_failed"
  | "tls_failed"
  | "connection_lost"
  | "protocol_error"
  | "header_overflow"
  | "address_refused";

/** Why no attempt was possible, if that is this service's fault. */
export type InfrastructureCode = "out_of_sockets" | "out_of_room" | "resolver_down" | "internal";

export type Outcome =
  /** `refused`: why the answer is a failure, whatever its status. */
  | ({
      readonly kind: "answered";
      readonly brokenBy?: BrokenBy;
      readonly refused?: string;
    } & Answer)
  | { readonly kind: "unreachable"; readonly code: UnreachableCode; readonly text: string }
  | { readonly kind: "infrastructure"; readonly code: InfrastructureCode; readonly text: string }
  /** This service cut the call short: the message was cancelled, the claim was lost, or the process stops. */
  | { readonly kind: "aborted" };

export const isSuccess = (outcome: Outcome): boolean =>
  outcome.kind === "answered" &&
  outcome.refused === undefined &&
  outcome.status >= 200 &&
  outcome.status <= 299;

/**
 * Returns the outcome of a call whose answer is a result, as that of a run's call is. Half an answer is no result,
 * whatever its head said. An answer that was cut at the bound is a result, since the next would be as long.
 */
export function asResult(outcome: Outcome): Outcome {
  if (!isSuccess(outcome) || outcome.kind !== "answered") return outcome;
  const { body, brokenBy, status } = outcome;
  const text = `the answer, of status ${status}, was cut off after ${body.length} bytes`;
  switch (brokenBy) {
    case undefined:
      return outcome;
    case "destination":
      return { kind: "unreachable", code: "connection_lost", text };
    case "room":
      return { kind: "infrastructure", code: "out_of_room", text };
    case "abort":
      return { kind: "aborted" };
    default:
      return unreachable(brokenBy);
  }
}
