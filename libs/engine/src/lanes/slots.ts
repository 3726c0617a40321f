/**
 * Slots of flow keys: takes them for a publish, restores them from the records, gives unused ones back
 * (docs/design/lanes#slots-and-rates).
 */
import {
  areSameLimits,
  type Flow,
  type FlowId,
  type FlowLane,
  flowOf,
  type Message,
  type MessageId,
  openLimits,
  leaseNow,
  limits,
  untilMs,
} from "@posthaste/domain";
import { type Clock, type FlowLanes, type TokenStore } from "@posthaste/ports";

export type SlotPorts = {
  readonly flowLanes: FlowLanes;
  readonly tokens: TokenStore;
  readonly clock: Clock;
};

/**
 * Takes free slots for messages that are about to be inserted, in lanes without a line (docs/design/lanes#taken-by-a-publish).
 * Returns the messages that have a slot; none while a store is away.
 */
export async function takeSlots(
  ports: SlotPorts,
  messages: readonly Message[],
): Promise<ReadonlySet<MessageId>> {
  const wanted = messages.flatMap((message) => {
    const flow = flowOf(message);
    return flow ? { id: message.id, flow } : [];
  });
  const inLanes = Map.groupBy(wanted, ({ flow }) => flow.lane);
  const rows = await ports.flowLanes.rows([...inLanes.keys()]).catch(() => undefined);
  if (!rows) return new Set();
  const byLane = new Map(rows.map((row) => [row.id, row]));
  const taken = await Promise.all(
    [...inLanes].map(([id, group]) => takeInLane(ports, byLane.get(id), group).catch(() => [])),
  );
  return new Set(taken.flat());
}

type Wanted = { readonly id: MessageId; readonly flow: Flow };

async function takeInLane(
  ports: SlotPorts,
  row: FlowLane | undefined,
  wanted: readonly Wanted[],
): Promise<readonly MessageId[]> {
  const [first] = wanted;
  if (!first) return [];
  const { lane } = first.flow;
  const open = wanted.map(({ flow }) => openLimits(row, flow));
  const [limits] = open;
  if (!limits || !open.every((each) => each && areSameLimits(each, limits))) return [];
  if (row && !(await isEmpty(ports, row))) return [];
  const ids = wanted.map(({ id }) => id);
  const acquired = await ports.tokens.acquire(lane, ids, limits);
  // An existing lane is restored by its granter, once, however many publishes come; this message joins its line.
  if (!acquired.isUnknown || row) return acquired.granted;
  await restoreSlots(ports, { id: lane, window: undefined });
  return (await ports.tokens.acquire(lane, ids, limits)).granted;
}

/**
 * Reports whether nothing waits in a lane. A row without an alarm has an empty line (I3). While messages arrive, a
 * lane whose whole line was granted may still have its alarm.
 */
async function isEmpty({ flowLanes }: SlotPorts, { id, wakeAt }: FlowLane): Promise<boolean> {
  return wakeAt === undefined || (await flowLanes.heads(id, 1)).length === 0;
}

/** Adds to the token store, from the records, the slots that it has forgotten or cannot know. */
export async function restoreSlots(
  { flowLanes, tokens, clock }: SlotPorts,
  { id: lane, window }: Pick<FlowLane, "id" | "window">,
): Promise<void> {
  const holders = await flowLanes.slotHolders(lane);
  // Owners renew leases that were given before the clock was set ahead.
  const now = leaseNow(clock.now(), clock.setAheadMs());
  const left = holders.map(({ id, until }) => ({
    id,
    leftMs: untilMs(until, limits.leaseMs, now),
  }));
  await tokens.restore(lane, left, window);
}

/**
 * Gives back the slots that messages hold. One that cannot be given back now ends with its lease. Returns the lanes of the
 * messages.
 */
export async function releaseSlots(
  tokens: Pick<TokenStore, "release"> | undefined,
  messages: readonly Pick<Message, "id" | "flow">[],
): Promise<readonly FlowId[]> {
  const holders = messages.flatMap(({ id, flow }) => (flow === undefined ? [] : [{ id, flow }]));
  const byLane = Map.groupBy(holders, ({ flow }) => flow);
  const release = async ([lane, of]: [FlowId, typeof holders]): Promise<void> =>
    tokens?.release(lane, idsOf(of));
  await Promise.allSettled([...byLane].map(release));
  return [...byLane.keys()];
}

const idsOf = (messages: readonly Pick<Message, "id">[]): readonly MessageId[] =>
  messages.map(({ id }) => id);

/**
 * Gives unused slots back, except those of messages that hold one otherwise. Releasing the slot of a message that was
 * promoted, or inserted under the same id, meanwhile would let one message too many run.
 */
export async function giveSlotsBack(
  { flowLanes, tokens }: SlotPorts,
  lane: FlowId,
  unused: readonly MessageId[],
): Promise<void> {
  if (unused.length === 0) return;
  const holders = new Set((await flowLanes.slotHolders(lane)).map(({ id }) => id));
  const free = unused.filter((id) => !holders.has(id));
  if (free.length > 0) await tokens.release(lane, free);
}
