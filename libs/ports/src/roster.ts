/**
 * The roster of running deliverers. Each deliverer announces itself once a second; processes that insert messages may claim them
 * for a deliverer of the roster (docs/design/record#claimed-for-a-deliverer-that-is-named).
 */
import { type InState, type Message, type Owner, type TenantId } from "@posthaste/domain";

export type RosterEntry = {
  readonly owner: Owner;
  /** The partitions of the topic `message.due` that the deliverer receives. */
  readonly partitions: readonly number[];
  /** Gateways may name this deliverer. */
  readonly isOpen: boolean;
  /** The deliverer has no time to spare, and publishes should wait (ADR 225). */
  readonly isBusy: boolean;
  /** The highest format that the deliverer understands; a message of a higher format is not given to it (ADR 27). */
  readonly format: number;
};

export interface Roster {
  announce(entry: RosterEntry): Promise<void>;
  leave(owner: Owner): Promise<void>;
  /**
   * Returns the entries announced within `limits.rosterFreshMs` of the store's clock, before or after it, since a clock may be
   * ahead.
   */
  read(): Promise<readonly RosterEntry[]>;
}

/** The deliverers of other processes, as a process that inserts messages sees them. */
export interface NamedDelivery {
  /**
   * Returns a fresh and open deliverer, and reserves bytes on the bus for its hint; the caller then calls `sendHint` or `release`.
   * Returns undefined when the message has to wait for a claim.
   */
  ownerFor(message: Message): Owner | undefined;
  /** Returns the wait of a publish while every deliverer is busy; undefined when it need not wait. */
  waitWhileBusy(tenant: TenantId): Promise<void> | undefined;
  /** Sends the hint to the owner; called once the insert is durable. */
  sendHint(record: InState<"claimed">): void;
  /** Gives back the reserved bytes; called when the record was not inserted. */
  release(record: InState<"claimed">): void;
}
