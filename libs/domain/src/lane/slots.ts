/**
 * The slots of a lane, and the rate tokens that were counted with them (docs/design/lanes#slots-and-rates): which
 * messages of a line get a slot, and which tokens go back. Slots are leases that expire.
 *
 * A slot is unused from its grant until its call begins. A slot that ends unused gives back the token that it was
 * counted with. A slot that ends in use gives nothing back: its call may still run, on a lease that could not be
 * renewed here.
 */
import { untilMs } from "../shared/time.ts";
import { type MessageId } from "../shared/ids.ts";
import { leaseMs } from "../shared/limits.ts";
import {
  countDispatches,
  type FlowLimits,
  isWindowOver,
  rateLeft,
  type RateWindow,
} from "./flow-control.ts";

/**
 * `now` is for windows, which are stored in the rows of lanes. `passedMs` is for slots, which are in memory: setting
 * the clock neither ends nor prolongs a slot.
 */
export type SlotTime = { readonly now: number; readonly passedMs: number };

export type Slot = {
  /** When the slot ends, by `passedMs`. */
  readonly until: number;
  /** Present while the slot is unused. `inWindow`: the start of the window in which its token was counted, if the lane has a rate. */
  readonly granted?: { readonly inWindow: number | undefined };
};

/** Ordered by their ends. */
export type Slots = ReadonlyMap<MessageId, Slot>;

export type Taken = {
  readonly granted: readonly MessageId[];
  /** Slots that begin or are prolonged now. */
  readonly slots: readonly (readonly [MessageId, Slot])[];
  /** Slots that ended unused. */
  readonly gone: readonly MessageId[];
  readonly window: RateWindow | undefined;
  /** How long until the window opens again, if the rate was the limit. */
  readonly opensInMs?: number;
};

/**
 * Returns the messages of `wanted`, in order, that get a slot and a token now. A message that has both unused gets
 * them again without a new token: another granter worked on it, too. Returns undefined when a slot has ended in use:
 * then the state of the lane is not known any more.
 */
export function takeSlots(
  lane: { readonly slots: Slots; readonly window: RateWindow | undefined },
  wanted: readonly MessageId[],
  limits: FlowLimits,
  { now, passedMs }: SlotTime,
): Taken | undefined {
  const ended = endedSlots(lane.slots, passedMs);
  if (ended.some(([, { granted }]) => !granted)) return undefined;
  const gone = new Set(ended.map(([id]) => id));
  const before = ended.reduce((window, [, slot]) => withTokenBack(window, slot), lane.window);
  const { left } = rateLeft(limits, before, now);
  let free = (limits.parallelism ?? Infinity) - (lane.slots.size - gone.size);
  const granted: MessageId[] = [];
  const counted: MessageId[] = [];
  for (const id of wanted) {
    const slot = gone.has(id) ? undefined : lane.slots.get(id);
    if (!slot || !hasToken(slot, limits, before, now)) {
      if (counted.length >= left || (!slot && free <= 0)) continue;
      counted.push(id);
    }
    if (!slot) free -= 1;
    granted.push(id);
  }
  const window =
    counted.length > 0 && limits.rate !== undefined
      ? countDispatches(limits, before, counted.length, now)
      : before;
  const inWindow = limits.rate === undefined ? undefined : window?.startedAt;
  const slot: Slot = { until: passedMs + leaseMs, granted: { inWindow } };
  const opensAt =
    granted.length < wanted.length ? rateLeft(limits, window, now).opensAt : undefined;
  return {
    granted,
    slots: granted.map((id) => [id, slot]),
    gone: [...gone],
    window,
    ...(opensAt !== undefined && { opensInMs: untilMs(opensAt, limits.periodMs, now) }),
  };
}

/** Returns the window after `slot` has ended: an unused slot of this window gives its token back. */
export const withTokenBack = (
  window: RateWindow | undefined,
  { granted }: Slot,
): RateWindow | undefined =>
  window && granted && granted.inWindow === window.startedAt
    ? { ...window, count: Math.max(0, window.count - 1) }
    : window;

const hasToken = (
  { granted }: Slot,
  limits: FlowLimits,
  window: RateWindow | undefined,
  now: number,
): boolean => {
  if (!granted) return false;
  if (limits.rate === undefined) return true;
  return (
    window !== undefined &&
    granted.inWindow === window.startedAt &&
    !isWindowOver(limits, window, now)
  );
};

export function endedSlots(
  slots: Slots,
  passedMs: number,
): readonly (readonly [MessageId, Slot])[] {
  const ended: (readonly [MessageId, Slot])[] = [];
  for (const entry of slots) {
    if (entry[1].until > passedMs) break;
    ended.push(entry);
  }
  return ended;
}
