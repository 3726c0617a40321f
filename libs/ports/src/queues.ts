/**
 * FIFO queues and their turns (docs/design/queues). What stands in a queue gets there by `insert`, which gives it its place
 * and makes the queue where there is none. A turn is given by `admit` alone.
 */
import {
  type FlowId,
  type MessageId,
  type QueueId,
  type QueueLane,
  type TenantId,
} from "@posthaste/domain";
import { type Canceled, type Hint } from "./records.ts";

/** `lag`: its messages that are not finished; a store may count no further than 100,000. */
export type Queue = Pick<
  QueueLane,
  "name" | "parallelism" | "paused" | "createdAt" | "updatedAt"
> & { readonly lag: number };

/** What a change sets; the rest stays, or is as in a queue that a publish makes. */
export type QueueChange = {
  readonly tenant: TenantId;
  readonly name: string;
  readonly parallelism?: number;
  readonly paused?: boolean;
};

/** A pause has taken the turn of a message that holds, or is about to be given, a slot of its flow key. */
export type TakenBack = { readonly id: MessageId; readonly flow: FlowId };

/** `full`: the queue is not there, and would be one more than the tenant may have. Nothing is changed. */
export type Changed = "full" | { readonly takenBack: readonly TakenBack[] };

/** What became of one look at a queue. */
export type Admitted = {
  readonly queue: QueueId;
  readonly tenant: TenantId;
  /** How many turns were given. */
  readonly given: number;
  /** Due now. */
  readonly hints: readonly Hint[];
  /** When the first of those is due that hold their turn until then. */
  readonly heldUntil?: number;
  /** Flow lanes that messages with a turn have joined. */
  readonly flows: readonly FlowId[];
  /** What the deletion of the queue has left: to be cancelled, at most 500. */
  readonly ended: readonly MessageId[];
  /** Another look finds more to do now. */
  readonly more: boolean;
};

export interface Queues {
  /** Makes those that are not there, all or none. Returns those for which `queuesMax` leaves no room. */
  make(tenant: TenantId, names: readonly string[], queuesMax: number): Promise<readonly string[]>;
  /** Makes or changes a queue. A pause resolves when no message can be claimed for its first attempt any more. */
  put(change: QueueChange, queuesMax: number): Promise<Changed>;
  /** Nothing where there is none. */
  resume(tenant: TenantId, name: string): Promise<void>;
  get(tenant: TenantId, name: string): Promise<Queue | undefined>;
  /** In the order of their names, from behind `after`; "" is before all of them. */
  list(
    tenant: TenantId,
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly Queue[]>;
  /**
   * Deletes a queue: nothing that is in it gets a turn any more. Resolves when what had a turn is cancelled; the rest is
   * what `admit` returns as `ended`.
   */
  end(tenant: TenantId, name: string): Promise<readonly Canceled[]>;
  /**
   * Gives the turns that are free to the first in line, and sets each queue's alarm for when it has to be looked at again.
   * Turns that are over are taken away; a promotion that a crash has interrupted is made good.
   */
  admit(queues: readonly QueueId[]): Promise<readonly Admitted[]>;
  /** The calls of these cancelled messages have ended: their turns no longer last for them. */
  callsEnded(tenant: TenantId, ids: readonly MessageId[]): Promise<void>;
  /** When the oldest turn was given, of all queues that are not paused: for operators, among the first 100,000 turns or 10,000 queues. */
  oldestTurn(): Promise<number | undefined>;
}
