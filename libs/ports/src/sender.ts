import { type Headers, type Method, type Outcome } from "@posthaste/domain";

export type OutgoingRequest = {
  readonly url: string;
  readonly method: Method;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** From connect to the last byte of the answer. */
  readonly timeoutMs: number;
  /** The answer's body is cut there. */
  readonly responseBytesMax: number;
};

/** A call on its way. `outcome` never rejects. */
export type Sending = {
  readonly outcome: Promise<Outcome>;
  /** The network that it went to, once that is known: what belongs together has the same (`networkOf`). */
  readonly address?: string | undefined;
  abort(): void;
};

export interface Sender {
  send(request: OutgoingRequest): Sending;
  close(): Promise<void>;
}
