/** Lanes are ordered lines with limits. A lane's row has the alarm of all messages that wait in it (I3). */
import { isOver } from "../shared/time.ts";
import { type FlowId, type QueueId, type TenantId } from "../shared/ids.ts";
import { laneKeptMs } from "../shared/limits.ts";
import { isPinned, type Pins } from "./pins.ts";
import { type FlowLimits, isWindowOver, type RateWindow } from "./flow-control.ts";

type LaneIds = { readonly queue: QueueId; readonly flow: FlowId };
export type LaneKind = keyof LaneIds;

/** The lines that a message is in, at most one for each kind of lane. */
export type Lanes = { readonly [Kind in LaneKind]?: LaneIds[Kind] };

/**
 * Lanes of these kinds and no other. Code that handles each kind uses `satisfies` with it, and stops compiling when a kind
 * is added.
 */
export type LanesOf<Kinds extends LaneKind> = {
  readonly [Kind in LaneKind]?: Kind extends Kinds ? LaneIds[Kind] : never;
};

type LaneRow = {
  readonly tenant: TenantId;
  /** The highest format of the records that have joined. A process that does not understand it grants nothing. Absent for format 1. */
  readonly format?: number;
  readonly shard: number;
  readonly wakeAt: number | undefined;
  /** Raised by every write that sets the alarm: the fence of the write that puts the lane to rest (ADR 21). */
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
  /** When the queue was deleted: no message in it gets a turn. The next insert makes the queue anew. */
  readonly endedAt?: number;
  /** Messages at this place or lower were in the queue when it was deleted: they get no turn, and are cancelled. */
  readonly purgeUpTo?: number;
};

export type FlowLane = LaneRow & {
  readonly id: FlowId;
  readonly key: string;
  /** The limits of the most recent publish; they hold for messages that already wait, too. */
  readonly limits: FlowLimits;
  readonly pins: Pins;
  /** Paused by hand: nothing is granted (docs/design/lanes#by-hand). */
  readonly paused: boolean;
  /**
   * The rate's window, written with each batch of grants and restored to a token store that has forgotten it
   * (docs/design/lanes#grants).
   */
  readonly window: RateWindow | undefined;
};

/**
 * Reports whether a lane without an alarm and without records can be removed: the next publish makes it anew, with its own
 * limits. Removing it earlier would lose an open window, or a pause or pins that were set by hand.
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
