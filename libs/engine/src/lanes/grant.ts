/**
 * Grants the free slots of a lane to the first in line (docs/design/lanes). Correctness comes from the token store's one script
 * and from conditional promotions; two granters at once do no harm (docs/design/outages#ownership-only-saves-work).
 */
import { type FlowId, type FlowLane, isKnownFormat, type LaneId, limits } from "@posthaste/domain";
import { type EventBus } from "@posthaste/ports";
import { wakeLane } from "../publish/announce.ts";
import { giveSlotsBack, restoreSlots, type SlotPorts } from "./slots.ts";

export type GrantPorts = SlotPorts & { readonly bus: EventBus };

/**
 * Grants the free slots of a lane now, and sets its alarm for when it may have more. Returns that alarm for the
 * holder of the timer, since the next rate window may open before the next look.
 */
export const grant = (ports: GrantPorts, id: FlowId): Promise<number | undefined> =>
  inRounds(ports, id, async () => {
    const [lane] = await ports.flowLanes.rows([id]);
    // Joining a lane sets its alarm, so a lane without an alarm has no waiting message.
    if (lane?.wakeAt === undefined || !isKnownFormat(lane)) return { more: false };
    return lane.paused ? rest(ports, lane) : grantBatch(ports, lane);
  });

/** `wakeAt`: when the lane may have more, where that is known. */
type Served =
  | { readonly more: true }
  | { readonly more: false; readonly wakeAt?: number | undefined };

/**
 * Repeats `round` while there is more to do in a lane: a round grants or gives a batch, cancels one, or finds that a message
 * has just joined the line. After `roundsMax` rounds other lanes have their turn.
 */
export async function inRounds(
  { bus, clock }: Pick<GrantPorts, "bus" | "clock">,
  lane: LaneId,
  round: () => Promise<Served>,
): Promise<number | undefined> {
  for (let n = 0; n < roundsMax; n++) {
    const served = await round();
    if (!served.more) return served.wakeAt;
  }
  // Without this wake no scheduler would look at the lane soon.
  await bus.publish("scheduler.wake", [wakeLane(lane, clock.now())]);
  return undefined;
}

const roundsMax = 20;

async function grantBatch(ports: GrantPorts, lane: FlowLane): Promise<Served> {
  const { flowLanes, tokens, clock } = ports;
  const wanted = Math.min(limits.grantBatchMax, lane.limits.parallelism ?? limits.grantBatchMax);
  const heads = await flowLanes.heads(lane.id, wanted);
  if (heads.length === 0) return rest(ports, lane);
  const ids = heads.map(({ id }) => id);
  const acquired = await tokens.acquire(lane.id, ids, lane.limits);
  if (acquired.isUnknown) {
    await restoreSlots(ports, lane);
    return { more: true };
  }
  const grantUntil = clock.now() + limits.grantMs;
  const promoted = new Set(
    await flowLanes.promote(lane.id, acquired.granted, grantUntil, acquired.window),
  );
  const unused = acquired.granted.filter((id) => !promoted.has(id));
  await giveSlotsBack(ports, lane.id, unused);
  const hints = heads.filter(({ id }) => promoted.has(id));
  if (hints.length > 0) await ports.bus.publish("message.due", hints);
  const full = acquired.granted.length < heads.length;
  if (!full && heads.length === wanted) return { more: true };
  const wakeAt = full
    ? clock.now() + Math.min(acquired.opensInMs ?? Infinity, limits.grantMs)
    : undefined;
  const window = acquired.window ?? lane.window;
  const rests = await flowLanes.rest(lane.id, lane.seq, wakeAt, window);
  // Also for a full lane: its row must hold the window of the dispatched messages before a token store may forget the lane.
  return rests ? { more: false, wakeAt } : { more: true };
}

/** Removes the lane's alarm. Joining or resuming the lane sets it again. */
async function rest({ flowLanes }: GrantPorts, lane: FlowLane): Promise<Served> {
  const rests = await flowLanes.rest(lane.id, lane.seq, undefined, lane.window);
  return { more: !rests };
}
