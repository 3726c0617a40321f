/**
 * What publishes need room for beside the backlog: their messages among those of the day, and their queues among those of the
 * tenant. It is taken once nothing else can refuse them, and all of it or nothing.
 */
import { makeQueues, type NoRoom } from "@posthaste/engine";
import { type Queues, type Tenant } from "@posthaste/ports";
import { type Rates } from "./rates.ts";

type RoomParts = { readonly queues: Pick<Queues, "make">; readonly rates: Rates };

export type Wanted = { readonly messages: number; readonly queues: readonly string[] };

/** Undefined at once where the plan counts no messages, and no queue is named: this is the way of every message. */
export function takeRoom(
  parts: RoomParts,
  tenant: Tenant,
  wanted: Wanted,
): Promise<NoRoom | undefined> | undefined {
  const spending = parts.rates.spendMessages(tenant, () => wanted.messages);
  if (!spending && wanted.queues.length === 0) return undefined;
  return take(parts, tenant, wanted, spending);
}

async function take(
  { queues, rates }: RoomParts,
  tenant: Tenant,
  wanted: Wanted,
  spending: ReturnType<Rates["spendMessages"]>,
): Promise<NoRoom | undefined> {
  const refused = await spending;
  if (refused) return { refused };
  if (wanted.queues.length === 0) return undefined;
  const noRoom = await makeQueues({ queues }, tenant.id, wanted.queues, tenant.plan);
  if (noRoom) await rates.giveBackMessages(tenant, wanted.messages);
  return noRoom;
}
