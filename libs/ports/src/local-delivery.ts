import { type InState, type MessageId, type Owner, type TenantId } from "@posthaste/domain";

/**
 * The deliverer of the same process, as the gateway sees it. The gateway may reserve a place in line for a slot before the insert, so that the insert
 * is the claim (docs/design/record#claimed-by-its-insert). Without a local deliverer there is no place.
 */
export interface LocalDelivery {
  /**
   * Reserves a place in line for a slot; undefined if there is none. A reservation holds up no other attempt, and its
   * own may have to wait.
   */
  reserve(tenant: TenantId, origin: number, bodyBytes: number): LocalPlace | undefined;
  /**
   * Returns a wait for a place, after which the caller may ask for one again; undefined when waiting would gain
   * nothing. The wait is short, and may end without a place.
   */
  waitForPlace(tenant: TenantId, origin: number, bodyBytes: number): Promise<void> | undefined;
  /** Aborts an attempt at once if it runs in this process. Returns false if it does not; it may run elsewhere. */
  abort(id: MessageId): boolean;
}

/** The entry of a history that a delivery ends with, and its rank there. */
export type AddedEntry = { readonly rank: number; readonly body: Uint8Array };

/** A reserved place. The caller calls `run` or `release`, once. */
export interface LocalPlace {
  readonly owner: Owner;
  /**
   * Makes the attempt of a record whose insert is durable. `entry`: what the change that made the record has added to the history of
   * its run.
   */
  run(record: InState<"claimed">, entry?: AddedEntry): void;
  /** Frees the place after a failed insert. */
  release(): void;
}
