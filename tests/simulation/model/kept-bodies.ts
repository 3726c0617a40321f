/** Kept bodies in memory. */
import {
  isIn,
  mayKeepBody,
  type MessageId,
  type MessageRecord,
  type TenantId,
} from "@posthaste/domain";
import { type KeptBodies } from "@posthaste/ports";

export type ModelKeptBodies = {
  readonly port: KeptBodies;
  /** Keeps the body of a record that is about to be removed, if it may be kept. */
  readonly keep: (record: MessageRecord) => void;
};

type Kept = { readonly tenant: TenantId; readonly at: number; readonly body: Uint8Array };

export function modelKeptBodies(): ModelKeptBodies {
  const kept = new Map<MessageId, Kept>();
  return {
    port: {
      get: async (tenant, id) => {
        const found = kept.get(id);
        return found?.tenant === tenant ? found.body : undefined;
      },
      sweep: async (tenant, before, limit) => {
        const old = [...kept].filter(([, each]) => each.tenant === tenant && each.at < before);
        const gone = old.toSorted(([, a], [, b]) => a.at - b.at).slice(0, limit);
        for (const [id] of gone) kept.delete(id);
        return gone.length;
      },
      diskShare: async () => 0,
    },
    keep: (record) => {
      const { body, id, tenant } = record.message;
      if (!isIn(record, "delivered") && !isIn(record, "canceled")) return;
      if (body.length > 0 && mayKeepBody(record.message))
        kept.set(id, { tenant, at: record.state.endedAt, body });
    },
  };
}
