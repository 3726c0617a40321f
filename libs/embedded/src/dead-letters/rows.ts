/** Writes dead letters. Configuration and body are the message's own rows, which stay for as long as the letter does. */
import { type DatabaseSync } from "node:sqlite";
import { type Answer, type DlqId, type FailureReason } from "@posthaste/domain";

type LetterRow = {
  readonly id: DlqId;
  readonly failedAt: number;
  readonly reason: FailureReason;
  readonly retried: number;
  readonly error?: string;
  readonly response?: Answer;
};

export type Letters = { put(tenant: number, position: number, letter: LetterRow): void };

export function openLetters(db: DatabaseSync): Letters {
  const put = db.prepare(`
    INSERT INTO dead_letters (tenant, id, failed_at, reason, retried, message, body_of, error, answer, response)
    VALUES (?, ?, ?, ?, ?, ?, coalesce((SELECT body_of FROM messages WHERE position = ?), ?), ?, ?, ?)
    ON CONFLICT (tenant, id) DO NOTHING`);
  return {
    put: (tenant, position, letter) => {
      const { body = null, ...head } = letter.response ?? {};
      put.run(
        tenant,
        letter.id,
        letter.failedAt,
        letter.reason,
        letter.retried,
        position,
        position,
        position,
        letter.error ?? null,
        letter.response ? JSON.stringify(head) : null,
        body,
      );
    },
  };
}
