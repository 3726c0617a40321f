/** Cancelling (decisions.md 9): the write decides; a running attempt is then aborted, a lane's slot given back. */
import { accept, type MessageId, type TenantId } from "@posthaste/domain";
import { type LocalDelivery, type TokenStore, type Groups } from "@posthaste/ports";
import { wakeLane } from "./announce.ts";
import { unexpandedChild } from "./fan-out.ts";
import { followUp, type FollowUpPorts } from "./follow-up.ts";

export type CancelPorts = FollowUpPorts & {
  readonly tokens: TokenStore;
  readonly groups: Groups;
  readonly local?: LocalDelivery;
};

/** The ids that were live and are canceled now. */
export async function cancelMessages(
  ports: CancelPorts,
  tenant: TenantId,
  ids: readonly MessageId[],
): Promise<readonly MessageId[]> {
  const answers = await ports.messages.cancel(tenant, ids);
  const canceled: MessageId[] = [];
  for (const [i, answer] of answers.entries()) {
    const id = ids[i];
    if (id === undefined) continue;
    if (answer.kind === "unknown") {
      if (await cancelUnexpanded(ports, tenant, id)) canceled.push(id);
      continue;
    }
    canceled.push(id);
    if (answer.was === "claimed") ports.local?.abort(id);
    await freeSlot(ports, answer.message.flowLane, id);
    if (answer.left.length > 0)
      await followUp(ports, [{ message: answer.message, items: answer.left }]);
  }
  return canceled;
}

async function freeSlot(
  ports: CancelPorts,
  lane: Parameters<typeof wakeLane>[0] | undefined,
  id: MessageId,
): Promise<void> {
  if (lane === undefined) return;
  await ports.tokens.release(lane, [id]);
  await ports.bus.publish("scheduler.wake", [wakeLane(lane, ports.clock.now())]);
}

/** A child that its parent has not made yet is made here, unannounced, so that there is something to cancel. */
async function cancelUnexpanded(
  ports: CancelPorts,
  tenant: TenantId,
  id: MessageId,
): Promise<boolean> {
  const child = await unexpandedChild(ports, tenant, id);
  if (!child) return false;
  await ports.messages.insert([{ record: accept(child.message, ports.clock.now()) }]);
  const [answer] = await ports.messages.cancel(tenant, [id]);
  if (answer?.kind !== "canceled") return false;
  if (answer.left.length > 0)
    await followUp(ports, [{ message: answer.message, items: answer.left }]);
  return true;
}
