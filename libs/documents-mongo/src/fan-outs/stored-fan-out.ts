/**
 * The documents of the collection `fan_outs`: one for each fan-out, with the body that all children share.
 *
 * (1) a tombstone is a document with nothing but `_id` and `tombstoneUntil`, as in the collection of records.
 */
import {
  type FanOut,
  type FanOutTarget,
  type MessageId,
  type QueueId,
  type Template,
  type TenantId,
} from "@posthaste/domain";
import { bytes } from "../bytes.ts";
import { byTime, type Index } from "../indexes.ts";

export type StoredFanOut = FanOutTarget & {
  readonly _id: MessageId;
  readonly tenant: TenantId;
  /** Absent in format 1. */
  readonly format?: number;
  readonly shard: number;
  readonly queue?: QueueId;
  readonly template: Template;
  readonly body: Uint8Array;
  readonly upTo: number;
  readonly wakeAt?: number;
  /** Present once the fan-out is expanded. From `sweepAt` on, the sweep checks whether a child is left. */
  readonly endedAt?: number;
  readonly sweepAt?: number;
  /** The first child's place in the line of the flow key; one place is reserved for each endpoint. */
  readonly place?: number;
  readonly queuePlace?: number;
  /**
   * The token of the write that inserted or changed the document. A try whose reply was lost recognizes its own write
   * by this token (docs/design/record#writes-whose-answer-was-lost).
   */
  readonly insertedBy: string;
  readonly changedBy?: string;
  /** Until this time the publish may be repeated with its deduplication id: a fan-out removed earlier leaves a tombstone. */
  readonly repeatableUntil?: number;
  readonly tombstoneUntil?: number;
};

export const fanOutsName = "fan_outs";

export const fanOutIndexes: readonly Index[] = [
  byTime(fanOutsName, "wakeAt"),
  byTime(fanOutsName, "sweepAt"),
  { collection: fanOutsName, key: { tombstoneUntil: 1 }, having: "tombstoneUntil", is: "needed" },
  { collection: fanOutsName, key: { queue: 1, queuePlace: 1 }, having: "queue", is: "needed" },
  // By this index, replaced chunks of a group that are still needed are found.
  { collection: fanOutsName, key: { chunks: 1 }, having: "chunks", is: "needed" },
];

export function fanOutFrom(stored: StoredFanOut): FanOut {
  const { _id: id, tenant, format, shard, queue, template, upTo, endedAt, wakeAt } = stored;
  const { group, chunks, endpointCount, skipped } = stored;
  return {
    group,
    chunks,
    endpointCount,
    skipped,
    id,
    ...(format !== undefined && { format }),
    tenant,
    shard,
    ...(queue !== undefined && { queue }),
    template,
    body: bytes(stored.body),
    state: endedAt === undefined ? { kind: "expanding", upTo } : { kind: "expanded", endedAt },
    wakeAt,
  };
}
