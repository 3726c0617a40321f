import { messageJson, type messages } from "@posthaste/contract";
import {
  attemptsOf,
  type Configuration,
  fault,
  keptMsOf,
  limits,
  messageId,
} from "@posthaste/domain";
import { cancelMessages, readMessage, runNow } from "@posthaste/engine";
import { type KeptBodies, type LogEntry } from "@posthaste/ports";
import { type Reads, type ReadsIn } from "../reads.ts";
import { type CancelParts, cancelHandlers } from "./cancel-in-bulk.ts";
import { type Handlers } from "./handler.ts";

export type MessageParts = CancelParts & {
  readonly keptBodies: KeptBodies;
  readonly reads: ReadsIn;
};

/** The newest events: 250 attempts and more. */
const eventsShownMax = 750;

export const messageHandlers = (ports: MessageParts): Handlers<keyof typeof messages> => ({
  readMessage: async ({ tenant, param }) => {
    const id = param("messageId");
    return {
      status: 200,
      read: async (permit) => {
        const page = { limit: eventsShownMax, order: "latestFirst", bodyBytesMax: 0 } as const;
        const [record, { items }] = await Promise.all([
          readMessage(ports, tenant.id, messageId(id)),
          ports.reads(permit).log(tenant.id, { messageIds: [messageId(id)] }, page),
        ]);
        const logged = items[0]?.message;
        const kept = !record && logged && (await ports.keptBodies.get(tenant.id, logged.id));
        const message = record?.message ?? (logged && { ...logged, ...(kept && { body: kept }) });
        if (!message) return unknown(id);
        const log = items.toReversed();
        const answer = await lastAnswer(ports, ports.reads(permit), message, log);
        const view = { sha256: ports.sha256, keptMs: keptMsOf(tenant.plan), answer };
        return { json: messageJson(message, log, view) };
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
        return fault("malformed", "messageId: the message is in a queue and waits for its turn");
      case "asleep":
        return fault("malformed", "messageId: the message is a step of a run that sleeps");
      case "unknown":
        return fault("not_found", `message ${id.slice(0, 128)} does not wait for its time`);
    }
  },
  ...cancelHandlers(ports),
});

/** Reads the beginning of the answer to the last attempt: that of a failed one is in the log. */
async function lastAnswer(
  { keptBodies }: Pick<MessageParts, "keptBodies">,
  reads: Reads,
  { id, tenant }: Pick<Configuration, "id" | "tenant">,
  log: readonly LogEntry[],
): Promise<Uint8Array | undefined> {
  const last = attemptsOf(log).at(-1);
  if (!last?.answered?.bytes) return undefined;
  if (last.ended === "delivered") return keptBodies.answer(tenant, id);
  if (last.ended === "canceled") return undefined;
  const page = { limit: 1, order: "latestFirst", bodyBytesMax: limits.keptAnswerBytesMax } as const;
  const { items } = await reads.log(tenant, { messageIds: [id], states: ["ERROR"] }, page);
  return items[0]?.fact?.response?.body;
}

const unknown = (id: string) => fault("not_found", `message ${id.slice(0, 128)} not found`);
