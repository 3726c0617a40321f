/** `/v2/messages`. */
import { messageJson, type messages } from "@posthaste/contract";
import { fault, messageId } from "@posthaste/domain";
import { cancelMessages, readMessage } from "@posthaste/engine";
import { type CancelParts, cancelWorks } from "./cancel-in-bulk.ts";
import { type Works } from "./work.ts";

export type MessageParts = CancelParts;

export const messageWorks = (ports: MessageParts): Works<keyof typeof messages> => ({
  readMessage: async ({ tenant, param }) => {
    const id = param("messageId");
    const record = await readMessage(ports, tenant.id, messageId(id));
    if (!record) return unknown(id);
    return { status: 200, json: messageJson(record.message, { sha256: ports.sha256 }) };
  },
  cancelMessage: async ({ tenant, param }) => {
    const id = param("messageId");
    const canceled = await cancelMessages(ports, tenant.id, [messageId(id)]);
    if (canceled.length === 0) return unknown(id);
    return { status: 202, json: { cancelled: canceled.length } };
  },
  ...cancelWorks(ports),
});

const unknown = (id: string) => fault("not_found", `message ${id.slice(0, 128)} not found`);
