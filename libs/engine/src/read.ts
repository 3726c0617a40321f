/** Reading one message: also a child of a group publish that is accepted but not yet made. Parents appear in no read. */
import { type MessageId, type MessageRecord, type TenantId } from "@posthaste/domain";
import { type Groups, type MessageStore } from "@posthaste/ports";
import { unexpandedChild } from "./fan-out.ts";

export async function readMessage(
  ports: { messages: MessageStore; groups: Groups },
  tenant: TenantId,
  id: MessageId,
): Promise<MessageRecord | undefined> {
  const [record] = await ports.messages.get(tenant, [id]);
  if (record) return record.message.fanOut ? undefined : record;
  const child = await unexpandedChild(ports, tenant, id);
  if (child) return child;
  // Its parent may have made it, and gone on, between the two looks.
  const [again] = await ports.messages.get(tenant, [id]);
  return again?.message.fanOut ? undefined : again;
}
