import { hash32 } from "./hash.ts";
import { type LaneId, type MessageId, type ScheduleId, type TenantId } from "./ids.ts";

/** 64 for ever: the number of processes may change, the shard of a record may not. */
export const shardCount = 64;
export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard);

export const shardOf = (id: MessageId | LaneId): number => hash32(id) % shardCount;

/** The tenant is part of the hash, since each tenant names its own schedules. */
export const shardOfSchedule = (tenant: TenantId, id: ScheduleId): number =>
  hash32(`schedule:${tenant}:${id}`) % shardCount;
