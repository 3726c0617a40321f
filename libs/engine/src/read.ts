/** Reading one message: also a child of a group publish that is accepted but not yet made. */
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
  // Its fan-out may have made it, and gone on, between the two looks.
  const [again] = await ports.records.get(tenant, [id]);
  return again;
}
