import { type Headers, type Method, type Outcome, type TenantId } from "@posthaste/domain";

export type OutgoingRequest = {
  /** The tenant and the answering address to whose budgets the memory of the answer is charged. */
  readonly tenant: TenantId;
  readonly url: string;
  readonly method: Method;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Milliseconds from connecting to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
};

/** A call under way. `outcome` never rejects. */
export type Sending = {
  readonly outcome: Promise<Outcome>;
  /** The network of the called address, once known; addresses that belong together have the same one (`networkOf`). */
  readonly address?: string | undefined;
  abort(): void;
  /** Frees the bytes of the answer, none of which are in use any more. Called once, after the outcome. */
  forget?(): void;
};

export interface Sender {
  send(request: OutgoingRequest): Sending;
  close(): Promise<void>;
}
