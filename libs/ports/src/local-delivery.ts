import { type InState, type MessageId, type Owner, type TenantId } from "@posthaste/domain";

/**
 * The deliverer of the same process, as the gateway sees it. The gateway may reserve a place in line for a slot before the insert, so that the insert
 * is the claim (docs/design/record#claimed-by-its-insert). Without a local deliverer, every reservation fails.
 */
export interface LocalDelivery {
  readonly owner: Owner;
  /**
   * Reserves a place in line for a slot. After true, the caller calls `run` or `release`. A reservation holds up no other
   * attempt, and its own may have to wait.
   */
  reserve(tenant: TenantId, origin: number, bodyBytes: number): boolean;
  /**
   * Returns a wait for a place, after which the caller may ask for one again; undefined when there is nothing to be gained by waiting.
   * The wait is short, and ends without a place, too.
   */
  turn(tenant: TenantId, origin: number, bodyBytes: number): Promise<void> | undefined;
  /** Frees the reserved place after a failed insert. */
  release(tenant: TenantId, origin: number, bodyBytes: number): void;
  /** Makes the attempt of a record whose insert is durable. */
  run(record: InState<"claimed">): void;
  /** Aborts an attempt at once if it runs in this process. Returns false if it does not; it may run elsewhere. */
  abort(id: MessageId): boolean;
}
