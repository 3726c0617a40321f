/** Cancelling (decisions.md 9): the write decides; a running attempt is then aborted, a lane's slot given back. */
import { accept, type LaneId, type MessageId, parentOf, type TenantId } from "@posthaste/domain";
import { type Canceled, type Groups, type LocalDelivery, type TokenStore } from "@posthaste/ports";
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
  const parents = await parentsAmong(ports, tenant, ids);
  const answers = await ports.messages.cancel(
    tenant,
    ids.filter((id) => !parents.has(id)),
  );
  const canceled: CanceledMessage[] = [];
  let next = 0;
  for (const id of ids) {
    if (parents.has(id)) continue;
    const first = answers[next++];
    const answer = first?.kind === "canceled" ? first : await cancelChild(ports, tenant, id);
    if (answer?.kind === "canceled") canceled.push(answer);
  }
  for (const { message, was } of canceled) if (was === "claimed") ports.local?.abort(message.id);
  for (const { message, left } of canceled) {
    await freeSlot(ports, message.flowLane, message.id);
    if (left.length > 0) await followUp(ports, [{ message, items: left }]);
  }
  return canceled.map(({ message }) => message.id);
}

/** The parent of a group publish is nobody's message: it can be read out of a child's id, and is unknown all the same. */
async function parentsAmong(
  { messages }: CancelPorts,
  tenant: TenantId,
  ids: readonly MessageId[],
): Promise<ReadonlySet<MessageId>> {
  const records = await messages.get(tenant, ids);
  return new Set(records.flatMap((record) => (record?.message.fanOut ? [record.message.id] : [])));
}

type CanceledMessage = Extract<Canceled, { kind: "canceled" }>;

/**
 * A child of a group publish may not have been made yet: then it is made here, unannounced, so that there is something
 * to cancel. Its parent may have made it since it was found missing, so it is cancelled in any case.
 */
async function cancelChild(
  ports: CancelPorts,
  tenant: TenantId,
  id: MessageId,
): Promise<Canceled | undefined> {
  if (!parentOf(id)) return undefined;
  const child = await unexpandedChild(ports, tenant, id);
  if (child) await ports.messages.insert([{ record: accept(child.message, ports.clock.now()) }]);
  const [answer] = await ports.messages.cancel(tenant, [id]);
  return answer;
}

async function freeSlot(
  ports: CancelPorts,
  lane: LaneId | undefined,
  id: MessageId,
): Promise<void> {
  if (lane === undefined) return;
  // Cancelled it is: a slot that cannot be given back now runs out with its lease.
  await ports.tokens.release(lane, [id]).catch(() => undefined);
  await ports.bus.publish("scheduler.wake", [wakeLane(lane, ports.clock.now())]);
}
