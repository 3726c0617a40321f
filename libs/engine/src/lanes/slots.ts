/** Slots of flow keys: taken by a publish, put back from the records, given back unused (docs/design/lanes#slots-and-rates). */
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
 * Slots for messages that are about to be inserted: in lanes without a line as many as are free
 * (docs/design/lanes#taken-by-a-publish). Answers the messages that have one; while a store is away none has.
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
  // One that is there is told by its granter, once, however many publishes come: this message goes into its line.
  if (!acquired.isUnknown || row) return acquired.granted;
  await restoreSlots(ports, { id: lane, window: undefined });
  return (await ports.tokens.acquire(lane, ids, limits)).granted;
}

/** A row without an alarm has nothing in its line (I3). One whose line was granted whole may have its alarm yet, while messages come. */
async function isEmpty({ flowLanes }: SlotPorts, { id, wakeAt }: FlowLane): Promise<boolean> {
  return wakeAt === undefined || (await flowLanes.heads(id, 1)).length === 0;
}

/** What the token store has forgotten, or cannot know, it is told from the records. */
export async function restoreSlots(
  { flowLanes, tokens, clock }: SlotPorts,
  { id: lane, window }: Pick<FlowLane, "id" | "window">,
): Promise<void> {
  const holders = await flowLanes.slotHolders(lane);
  // A lease that stood before the clock was set ahead is renewed by its owner.
  const now = leaseNow(clock.now(), clock.setAheadMs());
  const left = holders.map(({ id, until }) => ({
    id,
    leftMs: untilMs(until, limits.leaseMs, now),
  }));
  await tokens.restore(lane, left, window);
}

/**
 * Of slots that nothing was made of those whose message has none by another way: releasing the slot of one that was
 * promoted, or inserted under the same id, meanwhile would let one too many run.
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
