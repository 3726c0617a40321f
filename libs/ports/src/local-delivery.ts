import { type InState, type MessageId, type Owner, type TenantId } from "@posthaste/domain";

/**
 * The deliverer in the same process, as the gateway sees it: a slot may be reserved before the insert, so that the
 * insert is the claim (docs/design/record#claimed-by-its-insert). Where there is none, nothing is ever reserved.
 */
export interface LocalDelivery {
  readonly owner: Owner;
  /** True: `run` or `release` follows. What is reserved holds no other attempt up, and may itself have to wait. */
  reserve(tenant: TenantId, origin: number, bodyBytes: number): boolean;
  /** The insert has failed: the slot is free again. */
  release(tenant: TenantId, origin: number, bodyBytes: number): void;
  /** The insert is durable: make the attempt. */
  run(record: InState<"claimed">): void;
  /** A cancelled attempt stops at once, if it runs here; false: it does not, and may run elsewhere. */
  abort(id: MessageId): boolean;
}
