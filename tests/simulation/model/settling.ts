/** Settles attempts in memory, and keeps what the log is owed of them. */
import {
  type AttemptFact,
  isFinished,
  isIn,
  type MessageId,
  type MessageRecord,
  owedFact,
  owedToLog,
  type Settlement,
} from "@posthaste/domain";
import { type Settled } from "@posthaste/ports";
import { type ModelMessageLog } from "./message-log.ts";
import { type Rows } from "./rows.ts";

export type ModelSettling = {
  readonly settle: (settlement: Settlement) => Settled;
  /** Tells the log what the settler has not told. */
  readonly tellOwed: (record: MessageRecord) => Promise<void>;
};

export function modelSettling(rows: Rows, log: ModelMessageLog): ModelSettling {
  const owing = new Set<MessageId>();

  const settleWhole = (
    record: MessageRecord,
    { message, next: state, retried, leaseLosses, deferrals }: Settlement,
    owed: AttemptFact,
  ): Settled => {
    owing.add(message.id);
    rows.change(message.id, {
      ...record,
      ...{ state, wakeAt: undefined, retried, leaseLosses, deferrals },
    });
    return { kind: "ok", left: [], owed };
  };

  return {
    settle: (settlement) => {
      const { message, epoch, append } = settlement;
      const record = rows.standing.get(message.id);
      if (!record || record.epoch !== epoch) return { kind: "fenced" };
      const owed = record.outbox.length === 0 ? owedToLog(settlement) : undefined;
      if (!isIn(record, "claimed")) {
        const still = new Set(record.outbox.map(({ attempt, kind }) => `${attempt} ${kind}`));
        const left = append.filter(({ attempt, kind }) => still.has(`${attempt} ${kind}`));
        return { kind: "ok", left, ...(owed && { owed }) };
      }
      if (owed) return settleWhole(record, settlement, owed);
      const { next: state, wakeAt, retried, leaseLosses, deferrals } = settlement;
      const outbox = [...record.outbox, ...append];
      rows.change(message.id, {
        ...record,
        ...{ state, wakeAt, retried, leaseLosses, deferrals, outbox },
      });
      return { kind: "ok", left: append };
    },
    tellOwed: async ({ message, retried, state }) => {
      if (!owing.delete(message.id) || !isFinished(state)) return;
      if (!log.statesOf(message.id).includes("DELIVERED"))
        await log.port.append([{ message, fact: owedFact(message.id, retried, state.endedAt) }]);
    },
  };
}
