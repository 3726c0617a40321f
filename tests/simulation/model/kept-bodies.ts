/** Kept bodies in memory. */
import {
  isIn,
  mayKeepBody,
  type Message,
  type MessageId,
  type MessageRecord,
  type TenantId,
} from "@posthaste/domain";
import { type KeptBodies } from "@posthaste/ports";

export type ModelKeptBodies = {
  readonly port: KeptBodies;
  readonly answered: (message: Message, bytes: Uint8Array) => void;
  readonly keep: (record: MessageRecord) => void;
  /** Removes the answer to a record that is about to be removed. */
  readonly forget: (id: MessageId) => void;
};

type Kept = { readonly tenant: TenantId; readonly at: number; readonly body: Uint8Array };
type Answer = { readonly tenant: TenantId; readonly bytes: Uint8Array };

export function modelKeptBodies(): ModelKeptBodies {
  const kept = new Map<MessageId, Kept>();
  const answers = new Map<MessageId, Answer>();
  return {
    port: {
      get: async (tenant, id) => {
        const found = kept.get(id);
        return found?.tenant === tenant && found.body.length > 0 ? found.body : undefined;
      },
      answer: async (tenant, id) => {
        const found = answers.get(id);
        return found?.tenant === tenant ? found.bytes : undefined;
      },
      sweep: async (tenant, before, limit) => {
        const old = [...kept].filter(([, each]) => each.tenant === tenant && each.at < before);
        const gone = old.toSorted(([, a], [, b]) => a.at - b.at).slice(0, limit);
        for (const [id] of gone) {
          kept.delete(id);
          answers.delete(id);
        }
        return gone.length;
      },
      diskShare: async () => 0,
    },
    answered: ({ id, tenant }, bytes) => void answers.set(id, { tenant, bytes }),
    keep: (record) => {
      const { body, id, tenant } = record.message;
      if (!isIn(record, "delivered") && !isIn(record, "canceled")) return;
      if ((body.length > 0 || answers.has(id)) && mayKeepBody(record.message))
        kept.set(id, { tenant, at: record.state.endedAt, body });
    },
    forget: (id) => void answers.delete(id),
  };
}
