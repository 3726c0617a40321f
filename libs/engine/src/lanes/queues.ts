/** Changes queues for their tenant, within the plan, and does the work that a pause or a deletion leaves. */
import {
  beyondQuota,
  type Fault,
  type Plan,
  queueId,
  type TenantId,
  tooManyQueues,
} from "@posthaste/domain";
import { type QueueChange, type Queues } from "@posthaste/ports";
import { wakeLane, wakeSchedulers } from "../publish/announce.ts";
import { type CancelPorts, reportCanceled } from "../bulk/cancel.ts";
import { releaseSlots } from "./slots.ts";

/** `queue`: the first queue beyond the plan's number. */
export type QuotaRefusal = { readonly refused: Fault; readonly queue?: string };

/** Makes the missing queues before publishes to them, all or none. */
export async function makeQueues(
  { queues }: { readonly queues: Pick<Queues, "make"> },
  tenant: TenantId,
  names: readonly string[],
  plan: Plan,
): Promise<QuotaRefusal | undefined> {
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
  wake(ports, tenant, name);
  await releaseSlots(ports.tokens, changed.takenBack);
  return undefined;
}

export async function resumeQueue(
  ports: CancelPorts,
  tenant: TenantId,
  name: string,
): Promise<void> {
  await ports.queues.resume(tenant, name);
  wake(ports, tenant, name);
}

/** Deletes a queue. Resolves when none of its messages can be claimed any more; running calls are aborted afterwards. */
export async function endQueue(ports: CancelPorts, tenant: TenantId, name: string): Promise<void> {
  void reportCanceled(ports, await ports.queues.end(tenant, name));
  wake(ports, tenant, name);
}

const wake = ({ bus, clock }: CancelPorts, tenant: TenantId, name: string): void =>
  wakeSchedulers(bus, [wakeLane(queueId(tenant, name), clock.now())]);
