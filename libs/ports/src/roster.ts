/**
 * The deliverers that are there: each says so once a second, and what inserts messages may claim them for one that it names
 * (docs/design/record#claimed-for-a-deliverer-that-is-named).
 */
import { type InState, type Message, type Owner } from "@posthaste/domain";

export type RosterEntry = {
  readonly owner: Owner;
  /** Of the topic `message.due`: what is said there it hears. */
  readonly partitions: readonly number[];
  /** It takes more. */
  readonly isOpen: boolean;
  /** What it understands: a message of a higher format is not for it (ADR 27). */
  readonly format: number;
};

export interface Roster {
  announce(entry: RosterEntry): Promise<void>;
  leave(owner: Owner): Promise<void>;
  /** Those that were announced within `limits.rosterFreshMs` by the store's clock, before or behind it: a clock may be ahead. */
  read(): Promise<readonly RosterEntry[]>;
}

/** Deliverers of other processes, as what inserts messages sees them. */
export interface NamedDelivery {
  /** One that is fresh and open; the bus keeps room for its hint, and `tell` or `release` follows. Absent: the message waits for a claim. */
  ownerFor(message: Message): Owner | undefined;
  /** The insert is durable: the owner hears of it. */
  tell(record: InState<"claimed">): void;
  /** The record was not inserted. */
  release(record: InState<"claimed">): void;
}
