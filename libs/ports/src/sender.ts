import { type Headers, type Method, type Outcome, type TenantId } from "@posthaste/domain";

export type OutgoingRequest = {
  /** Holds what the answer takes in memory, with the address that it comes from. */
  readonly tenant: TenantId;
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
  /** Nothing of the answer is in use any more: its bytes are free. To be called once, after the outcome. */
  forget?(): void;
};

export interface Sender {
  send(request: OutgoingRequest): Sending;
  close(): Promise<void>;
}
