/**
 * Reads, pauses and pins flow keys for their tenant (docs/design/lanes#by-hand). Rows and lines come from the record
 * store; the slots in use from the token store or, while that is away, from the records.
 */
import {
  flowByHand,
  type FlowId,
  type FlowLane,
  flowLaneId,
  isWindowOver,
  limits,
  type Pinned,
  type Pins,
  type RateWindow,
  type TenantId,
} from "@posthaste/domain";
import { isStoreError } from "@posthaste/ports";
import { wakeLane } from "../publish/announce.ts";
import { grant, type GrantPorts } from "./grant.ts";
import { restoreSlots } from "./slots.ts";

export type FlowKeyNow = {
  readonly lane: FlowLane;
  readonly waiting: number;
  readonly slots: number;
  /** Undefined when no window has begun, or the last one is over. */
  readonly window: RateWindow | undefined;
};

export async function readFlowKey(
  ports: GrantPorts,
  tenant: TenantId,
  key: string,
): Promise<FlowKeyNow | undefined> {
  const [found] = await standing(ports, await ports.flowLanes.rows([flowLaneId(tenant, key)]));
  return found;
}

/** Lists flow keys in key order, at most `limits.flowKeysListedMax`. */
export async function listFlowKeys(
  ports: GrantPorts,
  tenant: TenantId,
  search: string,
): Promise<readonly FlowKeyNow[]> {
  const lanes = await ports.flowLanes.list(tenant, search, limits.flowKeysListedMax);
  return standing(ports, lanes);
}

export const pauseFlowKey = (
  { flowLanes }: GrantPorts,
  tenant: TenantId,
  key: string,
): Promise<void> => flowLanes.pause(flowByHand(tenant, key));

export async function resumeFlowKey(
  { bus, clock, flowLanes }: GrantPorts,
  tenant: TenantId,
  key: string,
): Promise<void> {
  const flow = flowByHand(tenant, key);
  await flowLanes.resume(flow);
  await bus.publish("scheduler.wake", [wakeLane(flow.lane, clock.now())]);
}

/** Pins limits, and makes the key if there is none. */
export async function pinFlowKey(
  ports: GrantPorts,
  tenant: TenantId,
  key: string,
  pinned: Pinned,
): Promise<void> {
  const flow = flowByHand(tenant, key);
  await ports.flowLanes.pin(flow, pinned);
  if (pinned.rate) await beginWindow(ports, flow.lane);
  // Raised limits may let messages go.
  await ports.bus.publish("scheduler.wake", [wakeLane(flow.lane, ports.clock.now())]);
}

/** Begins a rate window now, with a count of zero. First grants the rest of the ending window to messages published before. */
export async function resetFlowRate(
  ports: GrantPorts,
  tenant: TenantId,
  key: string,
): Promise<void> {
  const lane = flowLaneId(tenant, key);
  await grant(ports, lane);
  await beginWindow(ports, lane);
  await grant(ports, lane);
}

/** Does the same as `resetFlowRate`, after reading the slots from the records again and putting back those that the token store lacks. */
export async function resetFlowKey(
  ports: GrantPorts,
  tenant: TenantId,
  key: string,
): Promise<void> {
  const [lane] = await ports.flowLanes.rows([flowLaneId(tenant, key)]);
  if (lane) await restoreSlots(ports, lane);
  await resetFlowRate(ports, tenant, key);
}

async function beginWindow({ flowLanes, tokens }: GrantPorts, lane: FlowId): Promise<void> {
  await flowLanes.keepWindow(lane, await tokens.resetRate(lane));
}

/** Returns false when there is no such key. */
export const unpinFlowKey = (
  { flowLanes }: GrantPorts,
  tenant: TenantId,
  key: string,
  parts: Pins,
): Promise<boolean> => flowLanes.unpin(flowLaneId(tenant, key), parts);

async function standing(
  ports: GrantPorts,
  lanes: readonly FlowLane[],
): Promise<readonly FlowKeyNow[]> {
  if (lanes.length === 0) return [];
  const waiting = await ports.flowLanes.waiting(lanes.map(({ id }) => id));
  const now = ports.clock.now();
  return Promise.all(
    lanes.map(async (lane) => {
      const { slots, window } = await inUse(ports, lane);
      const isOpen = window !== undefined && !isWindowOver(lane.limits, window, now);
      return {
        lane,
        waiting: waiting.get(lane.id) ?? 0,
        slots,
        window: isOpen ? window : undefined,
      };
    }),
  );
}

type InUse = { readonly slots: number; readonly window?: RateWindow | undefined };

async function inUse({ flowLanes, tokens }: GrantPorts, lane: FlowLane): Promise<InUse> {
  try {
    const peeked = await tokens.peek(lane.id);
    return { slots: peeked.slots, window: peeked.window ?? lane.window };
  } catch (error) {
    if (!isStoreError(error)) throw error;
    return { slots: (await flowLanes.slotHolders(lane.id)).length, window: lane.window };
  }
}
