/** Queues as their owner handles them: within the plan, and with what a pause or a deletion leaves to be done. */
import {
  beyondQuota,
  type Fault,
  type FlowId,
  type MessageId,
  type Plan,
  queueId,
  type TenantId,
  tooManyQueues,
} from "@posthaste/domain";
import { type QueueChange, type Queues, type TakenBack } from "@posthaste/ports";
import { wakeLane } from "../publish/announce.ts";
import { type CancelPorts, tellCanceled } from "../bulk/cancel.ts";

/** `queue`: the first for which there is no room. */
export type NoRoom = { readonly refused: Fault; readonly queue?: string };

/** Before publishes to queues: those that are not there are made, all or none. */
export async function makeQueues(
  { queues }: { readonly queues: Pick<Queues, "make"> },
  tenant: TenantId,
  names: readonly string[],
  plan: Plan,
): Promise<NoRoom | undefined> {
  const [queue] = await queues.make(tenant, names, plan.queuesMax);
  return queue === undefined ? undefined : { refused: tooManyQueues(plan), queue };
}

export async function putQueue(
  ports: CancelPorts,
  change: QueueChange,
  plan: Plan,
): Promise<Fault | undefined> {
  const { parallelism = 0, tenant, name } = change;
  if (parallelism > plan.queueParallelismMax)
    return beyondQuota("maxParallelism", plan.queueParallelismMax);
  const changed = await ports.queues.put(change, plan.queuesMax);
  if (changed === "full") return tooManyQueues(plan);
  wakeBeside(ports, tenant, name);
  if (changed.takenBack.length > 0) await freeSlots(ports, changed.takenBack);
  return undefined;
}

export async function resumeQueue(
  ports: CancelPorts,
  tenant: TenantId,
  name: string,
): Promise<void> {
  await ports.queues.resume(tenant, name);
  wakeBeside(ports, tenant, name);
}

/** Resolves when nothing that was in the queue can be claimed any more; its running calls are then aborted. */
export async function endQueue(ports: CancelPorts, tenant: TenantId, name: string): Promise<void> {
  void tellCanceled(ports, await ports.queues.end(tenant, name));
  wakeBeside(ports, tenant, name);
}

/** A hint: the queue's alarm is set. */
function wakeBeside({ bus, clock }: CancelPorts, tenant: TenantId, name: string): void {
  const wake = wakeLane(queueId(tenant, name), clock.now());
  bus.publish("scheduler.wake", [wake]).catch(() => undefined);
}

/** A slot that cannot be given back now runs out by itself. */
async function freeSlots({ tokens }: CancelPorts, takenBack: readonly TakenBack[]): Promise<void> {
  const byLane = new Map<FlowId, MessageId[]>();
  for (const { id, flow } of takenBack) byLane.set(flow, [...(byLane.get(flow) ?? []), id]);
  await Promise.allSettled([...byLane].map(([flow, ids]) => tokens.release(flow, ids)));
}
