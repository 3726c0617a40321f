/** What a call ends in when it does not succeed. */
import { type FaultCode } from "./api.ts";

/**
 * Beside what the server refuses: `unreachable`, nothing was sent; `no_answer`, what was sent may have had its effect or not;
 * `unexpected_answer`, what answered is no Posthaste, such as a proxy before it.
 */
export type FailureCode = FaultCode | "unreachable" | "no_answer" | "unexpected_answer";

export type Failure = {
  readonly code: FailureCode;
  /** Absent: there was no answer. */
  readonly status?: number;
  /** When the server asks to come back later. */
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
