import { messageJson, type messages } from "@posthaste/contract";
import { fault, keptMsOf, messageId } from "@posthaste/domain";
import { cancelMessages, readMessage, runNow } from "@posthaste/engine";
import { type KeptBodies } from "@posthaste/ports";
import { type ReadsIn } from "../reads.ts";
import { type CancelParts, cancelWorks } from "./cancel-in-bulk.ts";
import { type Works } from "./work.ts";

export type MessageParts = CancelParts & {
  readonly keptBodies: KeptBodies;
  readonly reads: ReadsIn;
};

/** The newest events: 250 attempts and more. */
const eventsShownMax = 750;

export const messageWorks = (ports: MessageParts): Works<keyof typeof messages> => ({
  readMessage: async ({ tenant, param }) => {
    const id = param("messageId");
    return {
      status: 200,
      read: async (seat) => {
        const page = { limit: eventsShownMax, order: "latestFirst", bodyBytesMax: 0 } as const;
        const [record, { items }] = await Promise.all([
          readMessage(ports, tenant.id, messageId(id)),
          ports.reads(seat).log(tenant.id, { messageIds: [messageId(id)] }, page),
        ]);
        const logged = items[0]?.message;
        const kept = !record && logged && (await ports.keptBodies.get(tenant.id, logged.id));
        const message = record?.message ?? (logged && { ...logged, ...(kept && { body: kept }) });
        if (!message) return unknown(id);
        const view = { sha256: ports.sha256, keptMs: keptMsOf(tenant.plan) };
        return { json: messageJson(message, items.toReversed(), view) };
      },
    };
  },
  cancelMessage: async ({ tenant, param }) => {
    const id = param("messageId");
    const canceled = await cancelMessages(ports, tenant.id, [messageId(id)]);
    if (canceled.length === 0) return unknown(id);
    return { status: 202, json: { cancelled: canceled.length } };
  },
  runMessageNow: async ({ tenant, param }) => {
    const id = param("messageId");
    switch (await runNow(ports, tenant.id, messageId(id))) {
      case "released":
        return { status: 200 };
      case "inQueue":
        return fault("malformed", "messageId: the message is in a queue, where its turn decides");
      case "asleep":
        return fault("malformed", "messageId: a step of a run sleeps until its time");
      case "unknown":
        return fault("not_found", `message ${id.slice(0, 128)} does not wait for its time`);
    }
  },
  ...cancelWorks(ports),
});

const unknown = (id: string) => fault("not_found", `message ${id.slice(0, 128)} not found`);
