/** Keeps answers, and keeps or removes the bodies of records that are removed (kept-bodies.ts). */
import { type DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { configurationColumns, configurationJoin } from "./configurations.ts";
import { stateCodes } from "./records.ts";

/** For use inside a write: by the settle, and by the removal of records. Positions and keys of tenants are JSON arrays. */
export type Keeping = {
  readonly answer: (position: number, bytes: Uint8Array) => void;
  /** Notes the kept bodies of records that are about to be removed, except those of the tenants in `forgotten`. */
  readonly note: (positions: string, forgotten: string) => void;
  /** Removes the bodies of whole rows that are not kept, and their answers. */
  readonly forget: (wholes: string, forgotten: string) => void;
};

/** Is true of a whole row whose body is redacted. The text is searched before it is parsed, since few have any redaction. */
const hidesBody = `instr(m.json, '"redaction"') > 0 AND m.json ->> '$.policy.redaction.body'`;

export function openKeeping(db: DatabaseSync): Keeping {
  const answer = db.prepare(
    "INSERT OR REPLACE INTO answers (position, crc, bytes) VALUES (?, ?, ?)",
  );
  const note = db.prepare(`
    INSERT OR IGNORE INTO kept (position, name, tenant, at, body_of)
    SELECT position, name, tenant, until, body_of FROM (
      SELECT m.position, m.name, m.tenant, m.until, coalesce(m.body_of, m.position) AS body_of, ${configurationColumns}
      FROM messages m ${configurationJoin}
      WHERE m.position IN (SELECT value FROM json_each(?)) AND m.state IN (${stateCodes.delivered}, ${stateCodes.canceled})
        AND m.tenant NOT IN (SELECT value FROM json_each(?))) AS gone
    WHERE json ->> '$.run' IS NULL AND NOT coalesce(json ->> '$.policy.redaction.body', 0)
      AND (EXISTS (SELECT 1 FROM bodies WHERE bodies.position = gone.body_of)
        OR EXISTS (SELECT 1 FROM answers WHERE answers.position = gone.position))`);
  const forget = db.prepare(`
    DELETE FROM bodies WHERE position IN (
      SELECT m.position FROM messages m WHERE m.position IN (SELECT value FROM json_each(?))
        AND (m.tenant IN (SELECT value FROM json_each(?)) OR (${hidesBody})))`);
  const forgetAnswers = db.prepare(`
    DELETE FROM answers WHERE position IN (
      SELECT m.position FROM messages m WHERE m.position IN (SELECT value FROM json_each(?))
        AND m.tenant IN (SELECT value FROM json_each(?)))`);
  return {
    answer: (position, bytes) => void answer.run(position, crc32(bytes), bytes),
    note: (positions, forgotten) => void note.run(positions, forgotten),
    forget: (wholes, forgotten) => {
      forget.run(wholes, forgotten);
      forgetAnswers.run(wholes, forgotten);
    },
  };
}
