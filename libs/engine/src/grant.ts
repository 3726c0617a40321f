/**
 * Granting: the lowest in line get the lane's free slots (architecture.md, Lanes). Correctness comes from the token
 * store's one script and from conditional promotions; two granters at once do no harm (decisions.md 12).
 */
import { type LaneId, limits, type MessageId } from "@posthaste/domain";
import {
  type Clock,
  type EventBus,
  type LaneRow,
  type MessageStore,
  type TokenStore,
} from "@posthaste/ports";
import { wakeLane } from "./announce.ts";

export type GrantPorts = {
  readonly messages: MessageStore;
  readonly tokens: TokenStore;
  readonly bus: EventBus;
  readonly clock: Clock;
};

/**
 * Grants what `lane` has to give now, and sets its alarm for when it may have more. Answers that alarm, for whoever holds
 * the timer: a rate's next window is sooner than anybody would look again.
 */
export async function grant(ports: GrantPorts, id: LaneId): Promise<number | undefined> {
  for (let round = 0; round < roundsMax; round++) {
    const [lane] = await ports.messages.lanes([id]);
    // Who gets into line gives it an alarm: at rest without one, nobody waits there.
    if (lane?.wakeAt === undefined) return undefined;
    const granted = await grantBatch(ports, lane);
    if (!granted.more) return granted.wakeAt;
  }
  // Nobody else would look at this lane soon.
  await ports.bus.publish("scheduler.wake", [wakeLane(id, ports.clock.now())]);
  return undefined;
}

type Granted = { readonly more: true } | { readonly more: false; readonly wakeAt?: number };

/** Each round promotes a batch, or finds that somebody has just got into line; others have their turn after that. */
const roundsMax = 20;

async function grantBatch(ports: GrantPorts, lane: LaneRow): Promise<Granted> {
  const { messages, tokens, clock } = ports;
  await remember(ports, lane);
  const wanted = Math.min(limits.grantBatchMax, lane.limits.parallelism ?? limits.grantBatchMax);
  const heads = await messages.heads(lane.id, wanted);
  if (heads.length === 0) {
    const rests = await messages.rest(lane.id, lane.seq, undefined, lane.window);
    return rests ? { more: false } : { more: true };
  }
  const ids = heads.map(({ id }) => id);
  const acquired = await tokens.acquire(lane.id, ids, lane.limits);
  const grantUntil = clock.now() + limits.grantMs;
  const promoted = new Set(
    await messages.promote(lane.id, acquired.granted, grantUntil, acquired.window),
  );
  await giveUnusedBack(ports, lane.id, acquired.granted, promoted);
  const hints = heads.filter(({ id }) => promoted.has(id));
  if (hints.length > 0) await ports.bus.publish("message.due", hints);
  const full = acquired.granted.length < heads.length;
  if (!full && heads.length === wanted) return { more: true };
  const wakeAt = full
    ? Math.min(acquired.opensAt ?? Infinity, clock.now() + limits.grantMs)
    : undefined;
  const window = acquired.window ?? lane.window;
  const rests = await messages.rest(lane.id, lane.seq, wakeAt, window);
  // Also when the lane is full: what it has dispatched must be in its row before a token store may forget it.
  if (!rests) return { more: true };
  return wakeAt === undefined ? { more: false } : { more: false, wakeAt };
}

/** After a flush the token store knows nothing: it is told from the records before the first grant. */
async function remember({ messages, tokens }: GrantPorts, lane: LaneRow): Promise<void> {
  if (await tokens.knows(lane.id)) return;
  await tokens.restore(lane.id, await messages.slotHolders(lane.id), lane.window);
}

/** A slot whose message was promoted by another granter meanwhile is that message's own: releasing it would let one too many run. */
async function giveUnusedBack(
  { messages, tokens }: GrantPorts,
  lane: LaneId,
  granted: readonly MessageId[],
  promoted: ReadonlySet<MessageId>,
): Promise<void> {
  const unused = granted.filter((id) => !promoted.has(id));
  if (unused.length === 0) return;
  const holders = new Set((await messages.slotHolders(lane)).map(({ id }) => id));
  const free = unused.filter((id) => !holders.has(id));
  if (free.length > 0) await tokens.release(lane, free);
}
