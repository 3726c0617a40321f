/** The failure of a call. */
import { type FaultCode } from "./api.ts";

/**
 * The server's faults, and three of the client: `unreachable`, nothing was sent; `no_answer`, the request may or may
 * not have taken effect; `unexpected_answer`, the answer is not Posthaste's, as from a proxy.
 */
export type FailureCode = FaultCode | "unreachable" | "no_answer" | "unexpected_answer";

export type Failure = {
  readonly code: FailureCode;
  /** Undefined when there was no answer. */
  readonly status?: number;
  /** The wait that the server requests. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
};

export class PosthasteError extends Error {
  override readonly name = "PosthasteError";
  readonly code: FailureCode;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(text: string, { code, status, retryAfterSeconds, cause }: Failure) {
    super(text, { cause });
    this.code = code;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
