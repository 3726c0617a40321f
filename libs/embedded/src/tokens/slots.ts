/**
 * Flow slots and rate windows, in memory: leases that end by themselves, so that they cannot leak (reliability.md P8).
 * A lane that is not known has to be restored from the records before the next grant; until then it grants nothing.
 */
import {
  countDispatches,
  type FlowLimits,
  type LaneId,
  limits,
  type MessageId,
  rateLeft,
  type RateWindow,
} from "@posthaste/domain";
import { type Acquired } from "@posthaste/ports";

/** What is known of so many lanes is kept; beyond it idle ones are forgotten, which costs them a restore. */
const lanesMax = 100_000;

type Lane = { readonly slots: Map<MessageId, number>; window: RateWindow | undefined };
type Holders = readonly { readonly id: MessageId; readonly until: number }[];

export class Slots {
  readonly #lanes = new Map<LaneId, Lane>();

  acquire(id: LaneId, wanted: readonly MessageId[], flow: FlowLimits, now: number): Acquired {
    const lane = this.#lane(id, now);
    if (!lane) return { granted: [] };
    const rate = rateLeft(flow, lane.window, now);
    const granted: MessageId[] = [];
    for (const message of wanted) {
      if (granted.length >= rate.left) break;
      const free = lane.slots.has(message) || lane.slots.size < (flow.parallelism ?? Infinity);
      if (!free) continue;
      lane.slots.set(message, now + limits.leaseMs);
      granted.push(message);
    }
    if (granted.length > 0 && flow.rate !== undefined)
      lane.window = countDispatches(flow, lane.window, granted.length, now);
    const opensAt =
      granted.length < wanted.length ? rateLeft(flow, lane.window, now).opensAt : undefined;
    return {
      granted,
      ...(opensAt !== undefined && { opensAt }),
      ...(lane.window && { window: lane.window }),
    };
  }

  renew(id: LaneId, messages: readonly MessageId[], now: number): readonly MessageId[] {
    const lane = this.#lane(id, now);
    return messages.filter((message) => {
      if (!lane?.slots.has(message)) return true;
      lane.slots.set(message, now + limits.leaseMs);
      return false;
    });
  }

  release(id: LaneId, messages: readonly MessageId[]): void {
    for (const message of messages) this.#lanes.get(id)?.slots.delete(message);
  }

  knows(id: LaneId): boolean {
    return this.#lanes.has(id);
  }

  /** What is known by now is kept: a grant may have come between. */
  restore(id: LaneId, holders: Holders, window: RateWindow | undefined, now: number): void {
    const known = this.#lanes.get(id);
    const lane: Lane = known ?? { slots: new Map(), window };
    for (const { id: message, until } of holders)
      if (!lane.slots.has(message)) lane.slots.set(message, until);
    if (known) return;
    if (this.#lanes.size >= lanesMax) this.#forgetIdle(now);
    this.#lanes.set(id, lane);
  }

  peek(id: LaneId, now: number): { readonly slots: number; readonly window?: RateWindow } {
    const lane = this.#lane(id, now);
    if (!lane) return { slots: 0 };
    return { slots: lane.slots.size, ...(lane.window && { window: lane.window }) };
  }

  #lane(id: LaneId, now: number): Lane | undefined {
    const lane = this.#lanes.get(id);
    if (lane) dropExpired(lane, now);
    return lane;
  }

  #forgetIdle(now: number): void {
    for (const [id, lane] of this.#lanes) {
      dropExpired(lane, now);
      if (lane.slots.size === 0 && (lane.window?.startedAt ?? 0) + limits.flowPeriodMsMax < now)
        this.#lanes.delete(id);
    }
  }
}

function dropExpired({ slots }: Lane, now: number): void {
  for (const [message, until] of slots) if (until <= now) slots.delete(message);
}
