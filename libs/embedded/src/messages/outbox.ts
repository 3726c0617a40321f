/** Follow-ups that are not yet safe elsewhere: a row each, counted in the hot row of their record. */
import { type DatabaseSync } from "node:sqlite";
import { type FollowUp, type FollowUpKind } from "@posthaste/domain";
import { pack, unpack } from "../answers.ts";
import { optionalBytes, stored, text } from "../database/rows.ts";

export type Outbox = {
  add(position: number, items: readonly FollowUp[]): void;
  /** In working order: by attempt, and within an attempt as they were added. */
  of(position: number): readonly FollowUp[];
  /** Returns false when there was no such item. */
  remove(position: number, attempt: number, item: FollowUpKind): boolean;
};

export function openOutbox(db: DatabaseSync): Outbox {
  const add = db.prepare(`
    INSERT INTO outbox (message, attempt, kind, json, response) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const select = db.prepare(
    "SELECT json, response FROM outbox WHERE message = ? ORDER BY attempt, key",
  );
  const remove = db.prepare("DELETE FROM outbox WHERE message = ? AND attempt = ? AND kind = ?");
  return {
    add: (position, items) => {
      for (const item of items) {
        const { json, response } = pack(item);
        add.run(position, item.attempt, item.kind, json, response);
      }
    },
    of: (position) =>
      select
        .all(position)
        .map((row) =>
          unpack(stored<FollowUp>(text(row["json"])), optionalBytes(row["response"] ?? null)),
        ),
    remove: (position, attempt, item) => remove.run(position, attempt, item).changes > 0,
  };
}
