/**
 * Takes the room that new messages and starts of runs need: in the backlog, in the day's quota, and their queues in
 * the tenant's. Called once nothing else can refuse the publishes; takes all or nothing. A stopping process has no
 * room.
 */
import { fault, isFault, type Wanted } from "@posthaste/domain";
import { makeQueues, type NoRoom } from "@posthaste/engine";
import { type Queues, type Tenant } from "@posthaste/ports";
import { type BacklogQuota } from "./backlog.ts";
import { type Rates } from "./rates.ts";

export type RoomParts = {
  readonly backlog: Pick<BacklogQuota, "cameIn">;
  readonly queues: Pick<Queues, "make">;
  readonly rates: Pick<Rates, "spendMessages">;
  readonly isClosed: () => boolean;
};

/** Returns undefined synchronously if the plan counts no messages and no queue is named, as for almost every message. */
export function takeRoom(
  parts: RoomParts,
  tenant: Tenant,
  wanted: Wanted,
): Promise<NoRoom | undefined> | undefined {
  if (parts.isClosed()) return Promise.resolve({ refused: closed });
  // One message was counted when the publish was let in.
  parts.backlog.cameIn(tenant, wanted.messages - 1);
  const spending = parts.rates.spendMessages(tenant, () => wanted.messages);
  if (!spending && wanted.queues.length === 0) return undefined;
  return take(parts, tenant, wanted, spending);
}

async function take(
  { queues }: RoomParts,
  tenant: Tenant,
  wanted: Wanted,
  spending: ReturnType<Rates["spendMessages"]>,
): Promise<NoRoom | undefined> {
  const spent = await spending;
  if (isFault(spent)) return { refused: spent };
  if (wanted.queues.length === 0) return undefined;
  const noRoom = await makeQueues({ queues }, tenant.id, wanted.queues, tenant.plan);
  if (noRoom) await spent?.();
  return noRoom;
}

const closed = fault("overloaded", "stopping: no new message is taken");
