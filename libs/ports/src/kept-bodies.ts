/** The bodies of messages that have ended, from the removal of their records until they are swept (ADR 204). */
import { type MessageId, type TenantId } from "@posthaste/domain";

export interface KeptBodies {
  /** Returns undefined where no body is kept; to be asked where `Records.get` has no record any more. */
  get(tenant: TenantId, id: MessageId): Promise<Uint8Array | undefined>;
  /** Removes bodies of messages of the tenant that ended before `before`, about `limit`. Returns how many. */
  sweep(tenant: TenantId, before: number, limit: number): Promise<number>;
  /** Returns which share of the store's disk is in use; 0 where the store does not know. */
  diskShare(): Promise<number>;
}
