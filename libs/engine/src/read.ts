/** Reads one message, including an accepted child of a group publish that is not made yet. */
import { type MessageId, type MessageRecord, type TenantId } from "@posthaste/domain";
import { type FanOuts, type Groups, type Records } from "@posthaste/ports";
import { unexpandedChildren } from "./publish/fan-out.ts";

export async function readMessage(
  ports: { records: Records; fanOuts: FanOuts; groups: Groups },
  tenant: TenantId,
  id: MessageId,
): Promise<MessageRecord | undefined> {
  const [record] = await ports.records.get(tenant, [id]);
  if (record) return record;
  for await (const [child] of unexpandedChildren(ports, tenant, [id])) if (child) return child;
  // The fan-out may have made the child, and moved on, between the two reads.
  const [again] = await ports.records.get(tenant, [id]);
  return again;
}
