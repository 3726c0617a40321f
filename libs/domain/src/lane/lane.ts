/** Lanes: ordered lines with limits. The row of one has the alarm of all messages that wait in it (I3). */
import { isOver } from "../shared/time.ts";
import { type FlowId, flowLaneId, queueId, type QueueId, type TenantId } from "../shared/ids.ts";
import { laneKeptMs } from "../shared/limits.ts";
import { isPinned, type Pins } from "./pins.ts";
import { type FlowLimits, isWindowOver, type RateWindow } from "./flow-control.ts";

type LaneIds = { readonly queue: QueueId; readonly flow: FlowId };
export type LaneKind = keyof LaneIds;

/** The lines that a message stands in, one for each kind of lane. */
export type Lanes = { readonly [Kind in LaneKind]?: LaneIds[Kind] };

/** Lanes of these kinds and of no other. What takes lanes apart `satisfies` it, and does not compile when a kind is added. */
export type LanesOf<Kinds extends LaneKind> = {
  readonly [Kind in LaneKind]?: Kind extends Kinds ? LaneIds[Kind] : never;
};

/** As its settings name them. */
export const lanesOf = (
  tenant: TenantId,
  flow: { readonly key: string } | undefined,
  queue?: string,
): Lanes => ({
  ...(queue !== undefined && { queue: queueId(tenant, queue) }),
  ...(flow && { flow: flowLaneId(tenant, flow.key) }),
});

/** What the row of every lane has. */
type LaneRow = {
  readonly tenant: TenantId;
  /** The highest of the records that have joined it: a process that does not understand them all grants none. Absent: 1. */
  readonly format?: number;
  readonly shard: number;
  readonly wakeAt: number | undefined;
  /** Raised by whatever sets the alarm: the fence of the write that puts the lane to rest (ADR 21). */
  readonly seq: number;
};

/** A FIFO queue: a line whose messages get turns, as many at once as its parallelism. */
export type QueueLane = LaneRow & {
  readonly id: QueueId;
  readonly name: string;
  readonly parallelism: number;
  readonly paused: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Deleted then: nothing in it gets a turn. An insert makes the queue anew. */
  readonly endedAt?: number;
  /** What has this place or a lower one was in the queue when it was deleted: it gets no turn, and is cancelled. */
  readonly purgeUpTo?: number;
};

/** A flow-control key. */
export type FlowLane = LaneRow & {
  readonly id: FlowId;
  readonly key: string;
  /** Of the most recent publish: they hold for messages that already wait, too. */
  readonly limits: FlowLimits;
  readonly pins: Pins;
  /** By hand: nothing is granted (docs/design/lanes#by-hand). */
  readonly paused: boolean;
  /** Kept with each batch of grants, so that a token store that forgot can be told (docs/design/lanes#grants). */
  readonly window: RateWindow | undefined;
};

/**
 * Whether a lane that has no alarm, and no record, can go: the next publish makes it anew, with its own limits. A
 * window that is still open would be lost with it, and so would what was set by hand.
 */
export const isForgettable = (
  { limits, paused, pins, window }: Pick<FlowLane, "limits" | "paused" | "pins" | "window">,
  usedAt: number,
  now: number,
): boolean =>
  isOver(usedAt + laneKeptMs, laneKeptMs, now) &&
  !paused &&
  !isPinned(pins) &&
  (!window || isWindowOver(limits, window, now));
