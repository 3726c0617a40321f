/** The bodies of messages that have ended, and of the answers that delivered them, until they are swept (ADR 204, ADR 187). */
import { type MessageId, type TenantId } from "@posthaste/domain";

export interface KeptBodies {
  /** Returns undefined if no body is kept. Must be called only if `Records.get` has no record any more. */
  get(tenant: TenantId, id: MessageId): Promise<Uint8Array | undefined>;
  /** Returns the kept part of the answer that delivered the message, from its settle on. */
  answer(tenant: TenantId, id: MessageId): Promise<Uint8Array | undefined>;
  /** Removes bodies of messages, and of their answers, of the tenant that ended before `before`, about `limit`. Returns how many. */
  sweep(tenant: TenantId, before: number, limit: number): Promise<number>;
  /** Returns the share of the store's disk that is in use; 0 if the store does not know. */
  diskShare(): Promise<number>;
}
