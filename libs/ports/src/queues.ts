/**
 * FIFO queues and their turns (docs/design/queues). `Records.insert` puts a message into a queue, gives it its place,
 * and makes the queue if there is none. Only `admit` gives turns.
 */
import {
  type FlowId,
  type InState,
  type MessageId,
  type Owner,
  type QueueId,
  type QueueLane,
  type TenantId,
} from "@posthaste/domain";
import { type Canceled, type Hint } from "./records.ts";

/** `lag`: the number of unfinished messages; a store may stop counting at 100,000. */
export type Queue = Pick<
  QueueLane,
  "name" | "parallelism" | "paused" | "createdAt" | "updatedAt"
> & { readonly lag: number };

/** The settings to change. Absent settings stay as they are, or as a publish sets them in a new queue. */
export type QueueChange = {
  readonly tenant: TenantId;
  readonly name: string;
  readonly parallelism?: number;
  readonly paused?: boolean;
};

/** A message whose turn a pause took back, and which holds, or is about to be given, a slot of its flow key. */
export type TakenBack = { readonly id: MessageId; readonly flow: FlowId };

/** `full`: the queue does not exist and would exceed the tenant's maximum. Nothing is changed. */
export type Changed = "full" | { readonly takenBack: readonly TakenBack[] };

export type Admitted = {
  readonly queue: QueueId;
  readonly tenant: TenantId;
  readonly given: number;
  /** Hints of the messages that are due now and not claimed. */
  readonly hints: readonly Hint[];
  /** The message that was claimed with its turn, whole. */
  readonly claimed?: InState<"claimed">;
  /** When the first of the messages that hold a turn and wait for their time is due. */
  readonly heldUntil?: number;
  /** The flow lanes that messages with a turn have joined. */
  readonly flows: readonly FlowId[];
  /** The messages that the deletion of the queue left to be cancelled, at most 500. */
  readonly ended: readonly MessageId[];
  /** Whether another look finds more to do now. */
  readonly more: boolean;
};

/** A deliverer that looks at a queue since an attempt there ends a turn. */
export type Ending = {
  /**
   * Set if the deliverer can call one message more: the first that gets a turn and is due is claimed for it,
   * unless its body is heavy.
   */
  readonly owner?: Owner | undefined;
  /**
   * Resolves when the end is written. A store may look before that, since the result of a look only holds if the end
   * that it has seen does; it looks again if it has not seen the end.
   */
  readonly written: Promise<unknown>;
};

export interface Queues {
  /** Makes the missing queues, all or none. Returns the names beyond `queuesMax`. */
  make(tenant: TenantId, names: readonly string[], queuesMax: number): Promise<readonly string[]>;
  /** Makes or changes a queue. A pause resolves when no message can be claimed for its first attempt any more. */
  put(change: QueueChange, queuesMax: number): Promise<Changed>;
  /** Resumes a queue. Does nothing when there is no such queue. */
  resume(tenant: TenantId, name: string): Promise<void>;
  get(tenant: TenantId, name: string): Promise<Queue | undefined>;
  /** Returns queues after `after` in name order; "" is before all names. */
  list(
    tenant: TenantId,
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly Queue[]>;
  /**
   * Deletes a queue: none of its messages gets a turn any more. Resolves when the messages with a turn are cancelled. `admit`
   * returns the rest as `ended`.
   */
  end(tenant: TenantId, name: string): Promise<readonly Canceled[]>;
  /**
   * Gives the free turns to the first in line, and sets each queue's alarm for the next look. Takes away turns that are over, and
   * completes a promotion that a crash interrupted.
   */
  admit(queues: readonly QueueId[], ending?: Ending): Promise<readonly Admitted[]>;
  /** Tells the queues that the calls of these cancelled messages have ended, so that their turns last no longer. */
  callsEnded(tenant: TenantId, ids: readonly MessageId[]): Promise<void>;
  /**
   * Returns when the oldest turn of all queues that are not paused was given. For operators; looks at the first 100,000 turns or
   * 10,000 queues.
   */
  oldestTurn(): Promise<number | undefined>;
}
