/** The document of a queue, which contains its turns as a list. */
import {
  type MessageId,
  type QueueId,
  queueParallelismDefault,
  shardOf,
  type TenantId,
  queueNameOf,
} from "@posthaste/domain";
import { type Collection } from "mongodb";
import { byTime, type Index } from "../indexes.ts";
import { type Store } from "../messages/store.ts";

export type StoredQueue = {
  readonly _id: QueueId;
  readonly tenant: TenantId;
  readonly name: string;
  readonly shard: number;
  readonly format: number;
  readonly parallelism: number;
  readonly paused: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt?: number;
  /** Messages at this place or a lower one were in the queue when it was deleted. */
  readonly purgeUpTo?: number;
  readonly wakeAt?: number;
  /** How often the alarm was set: the fence of `rest`. */
  readonly entries: number;
  readonly place?: number;
  /** Messages that have a turn, at most `parallelism` when it was given. */
  readonly turns: readonly MessageId[];
  /** When each turn was given, in the order of `turns`. A turn that has ended since the last look stays until a look gives another. */
  readonly given?: readonly Given[];
  /** Raised by each write of `turns` or of their bound: the fence of all such writes. */
  readonly turnsVersion: number;
  /** A fan-out has joined whose children may not all be made. */
  readonly hasFanOut?: true;
  readonly endedTurns?: readonly MessageId[];
};

type Given = { readonly id: MessageId; readonly at: number };

export const queuesName = "queues";

export const queueIndexes: readonly Index[] = [
  byTime(queuesName, "wakeAt"),
  byTime(queuesName, "endedAt"),
  { collection: queuesName, key: { tenant: 1, name: 1 }, is: "needed" },
];

export const queuesOf = ({ collection }: Pick<Store, "collection">): Collection<StoredQueue> =>
  collection<StoredQueue>(queuesName);

export const asMade = (tenant: TenantId, _id: QueueId) => ({
  ...{ tenant, name: queueNameOf(tenant, _id), shard: shardOf(_id) },
  ...{ format: 1, turns: [], turnsVersion: 0 },
});
/** The settings of a queue that a publish makes. */
export const asPublished = (now: number) => ({
  ...{ parallelism: queueParallelismDefault, paused: false, createdAt: now, updatedAt: now },
});

export const isLiving = { endedAt: { $exists: false } } as const;
