/**
 * Flow slots and rate windows of the lanes in use, in memory. An unknown lane grants nothing until it is restored
 * from the records. So any lane may be forgotten, and idle lanes are.
 *
 * (1) Lanes are in the order of their last use, slots in the order of their ends. Each new lane checks the two lanes
 *     least recently used, so that each of a million flow keys in a second costs as much as each of ten.
 */
import {
  endedSlots,
  type FlowLimits,
  isWindowOver,
  type FlowId,
  limits,
  newWindow,
  type MessageId,
  type RateWindow,
  type Slot,
  type SlotTime,
  takeSlots,
  RoundRobin,
  withTokenBack,
} from "@posthaste/domain";
import { type Acquired, type SlotHolder } from "@posthaste/ports";

const lanesMax = 100_000;
const looksPerLane = 2;

type Lane = {
  readonly slots: Map<MessageId, Slot>;
  window: RateWindow | undefined;
  /** The limits by which the window ends. */
  limits: FlowLimits | undefined;
  usedAt: number;
};

export class Slots {
  readonly #lanes = new RoundRobin<FlowId, Lane>();
  readonly #lanesMax: number;

  /** Above `most` lanes, lanes without a slot are forgotten even with an open window, which is in the lane's row. */
  constructor(most = lanesMax) {
    this.#lanesMax = most;
  }

  get size(): number {
    return this.#lanes.size;
  }

  acquire(id: FlowId, wanted: readonly MessageId[], flow: FlowLimits, at: SlotTime): Acquired {
    const lane = this.#lanes.get(id);
    const taken = lane && takeSlots(lane, wanted, flow, at);
    if (!taken) return { granted: [], isUnknown: true };
    const { granted, window, opensInMs } = taken;
    for (const gone of taken.gone) lane.slots.delete(gone);
    for (const [message, slot] of taken.slots) put(lane, message, slot);
    lane.window = window;
    lane.limits = flow;
    this.#used(id, lane, at.passedMs);
    return {
      granted,
      ...(opensInMs !== undefined && { opensInMs }),
      ...(window && { window }),
    };
  }

  use(id: FlowId, messages: readonly MessageId[], passedMs: number): readonly MessageId[] {
    const slots = this.#lanes.get(id)?.slots;
    const gone = messages.filter((message) => (slots?.get(message)?.until ?? 0) <= passedMs);
    const held = new Set(messages).difference(new Set(gone));
    this.hold(id, [...held], passedMs);
    return gone;
  }

  /** Does nothing for an unknown lane, which is restored from the records, with the same holders. */
  hold(id: FlowId, messages: readonly MessageId[], passedMs: number): void {
    const lane = this.#lanes.get(id);
    if (!lane) return;
    for (const message of messages) put(lane, message, { until: passedMs + limits.leaseMs });
    this.#used(id, lane, passedMs);
  }

  release(id: FlowId, messages: readonly MessageId[]): void {
    const lane = this.#lanes.get(id);
    for (const message of messages) {
      const slot = lane?.slots.get(message);
      if (!lane || !slot) continue;
      lane.slots.delete(message);
      lane.window = withTokenBack(lane.window, slot);
    }
  }

  /**
   * Adds the holders to the known ones: a slot may have been granted since they were read. Slots that ended while in
   * use are dropped, since the holders name them.
   */
  restore(
    id: FlowId,
    holders: readonly SlotHolder[],
    window: RateWindow | undefined,
    { now, passedMs }: SlotTime,
  ): void {
    const known = this.#lanes.get(id);
    const lane: Lane = known ?? { slots: new Map(), window, limits: undefined, usedAt: passedMs };
    for (const [message, slot] of endedSlots(lane.slots, passedMs))
      if (!slot.granted) lane.slots.delete(message);
    for (const { id: message, leftMs } of holders) {
      const until = passedMs + Math.min(leftMs, limits.leaseMs);
      if (leftMs > 0 && !lane.slots.has(message)) lane.slots.set(message, { until });
    }
    sortByEnd(lane.slots);
    if (!known) this.#lookAtOldest({ now, passedMs });
    this.#used(id, lane, passedMs);
  }

  /** Begins a new window and returns it. An unknown lane keeps none here and takes it from its row later. */
  resetRate(id: FlowId, now: number): RateWindow {
    const lane = this.#lanes.get(id);
    const window = newWindow(lane?.window, now);
    if (lane) lane.window = window;
    return window;
  }

  peek(id: FlowId, passedMs: number): { readonly slots: number; readonly window?: RateWindow } {
    const lane = this.#lanes.get(id);
    if (!lane) return { slots: 0 };
    const slots = lane.slots.size - endedSlots(lane.slots, passedMs).length;
    return { slots, ...(lane.window && { window: lane.window }) };
  }

  #used(id: FlowId, lane: Lane, passedMs: number): void {
    lane.usedAt = passedMs;
    this.#lanes.put(id, lane);
  }

  #lookAtOldest({ now, passedMs }: SlotTime): void {
    for (let looks = 0; looks < looksPerLane; looks++) {
      const isFull = this.#lanes.size >= this.#lanesMax;
      const oldest = this.#lanes.take();
      if (!oldest) return;
      const [id, lane] = oldest;
      const isIdle = endedSlots(lane.slots, passedMs).length === lane.slots.size;
      const isOld = lane.usedAt + limits.leaseMs <= passedMs && !hasOpenWindow(lane, now);
      if (!isIdle || !(isOld || isFull)) this.#lanes.put(id, lane);
    }
  }
}

function put({ slots }: Lane, message: MessageId, slot: Slot): void {
  slots.delete(message);
  slots.set(message, slot);
}

function sortByEnd(slots: Map<MessageId, Slot>): void {
  const inOrder = [...slots].toSorted(([, one], [, other]) => one.until - other.until);
  slots.clear();
  for (const [message, slot] of inOrder) slots.set(message, slot);
}

/** Reports whether the lane's window is open. With unknown limits the longest period counts. */
const hasOpenWindow = ({ window, limits: flow }: Lane, now: number): boolean =>
  window !== undefined && !isWindowOver(flow ?? { periodMs: limits.flowPeriodMsMax }, window, now);
