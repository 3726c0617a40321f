/** Settles attempts in memory, and records which ends are still to be written to the log and which are in their records. */
import {
  alarmAfter,
  isFinished,
  isIn,
  type MessageId,
  type MessageRecord,
  owedCancellation,
  owedFact,
  owedToLog,
  ownFactOf,
  type Settlement,
} from "@posthaste/domain";
import { type Settled } from "@posthaste/ports";
import { type ModelKeptBodies } from "./kept-bodies.ts";
import { type ModelMessageLog } from "./message-log.ts";
import { type Rows } from "./rows.ts";

export type ModelSettling = {
  readonly settle: (settlement: Settlement) => Settled;
  /** Records that the end of this message is still to be written to the log. */
  readonly owe: (id: MessageId) => void;
  /** Writes the entries to the log that the settler or canceller has not written. */
  readonly tellOwed: (record: MessageRecord) => void;
};

export function modelSettling(
  rows: Rows,
  log: ModelMessageLog,
  keptBodies: Pick<ModelKeptBodies, "answered">,
  now: () => number,
): ModelSettling {
  const owing = new Set<MessageId>();
  const telling = new Set<MessageId>();

  const end = (
    record: MessageRecord,
    { next: state, retried, leaseLosses, deferrals }: Settlement,
  ): void =>
    rows.change(record.message.id, {
      ...record,
      ...{ state, wakeAt: undefined, retried, leaseLosses, deferrals },
    });

  return {
    settle: (settlement) => {
      const { answer, message, epoch, append } = settlement;
      const record = rows.standing.get(message.id);
      if (!record || record.epoch !== epoch) return { kind: "fenced" };
      const owed = record.outbox.length === 0 ? owedToLog(settlement) : undefined;
      if (!isIn(record, "claimed")) {
        const still = new Set(record.outbox.map(({ attempt, kind }) => `${attempt} ${kind}`));
        const left = append.filter(({ attempt, kind }) => still.has(`${attempt} ${kind}`));
        return { kind: "ok", left, ...(owed && !telling.has(message.id) && { owed }) };
      }
      if (answer) keptBodies.answered(message, answer);
      const own = owed && ownFactOf(settlement);
      if (own) {
        end(record, settlement);
        telling.add(message.id);
        log.tell(message, own);
        return { kind: "ok", left: [] };
      }
      if (owed) {
        end(record, settlement);
        owing.add(message.id);
        return { kind: "ok", left: [], owed };
      }
      const { next: state, retried, leaseLosses, deferrals } = settlement;
      const outbox = [...record.outbox, ...append];
      const { wakeAt } = alarmAfter(settlement, now());
      rows.change(message.id, {
        ...record,
        ...{ state, wakeAt, retried, leaseLosses, deferrals, outbox },
      });
      return { kind: "ok", left: append };
    },
    owe: (id) => void owing.add(id),
    tellOwed: ({ message, retried, state }) => {
      telling.delete(message.id);
      if (!owing.delete(message.id) || !isFinished(state)) return;
      const [said, factOf] =
        state.kind === "canceled"
          ? (["CANCELED", owedCancellation] as const)
          : (["DELIVERED", owedFact] as const);
      if (!log.statesOf(message.id).includes(said))
        log.tell(message, factOf(message.id, retried, state.endedAt));
    },
  };
}
