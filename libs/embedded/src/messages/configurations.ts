/**
 * Configurations and bodies: the immutable parts of a message, written once, each with a checksum, so that a flipped
 * bit is noticed instead of delivered. The configuration of a plain message is in its row (whole.ts). Any other
 * outlives its record as long as the log or a dead letter refers to it. Children of a group publish share the body of
 * their fan-out.
 */
import { type DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { type Configuration, type Message, type MessageId } from "@posthaste/domain";
import {
  integer,
  optionalBytes,
  optionalInteger,
  type Row,
  stored,
  text,
} from "../database/rows.ts";
import { type Terms } from "../terms.ts";

export type Configurations = {
  put(position: number, message: Message): void;
  putBody(position: number, body: Uint8Array): void;
  has(position: number): boolean;
  /** Removes the rows at `positions` (a JSON array) that have no references left. For use inside a write. */
  removeOrphans(positions: string): void;
};

/** The columns that `configurationFrom` reads, from `messages` as m and the join below. */
export const configurationColumns =
  "coalesce(m.json, c.json) AS json, coalesce(m.crc, c.crc) AS crc";
/** Joins the configuration of every row that does not hold its own. */
export const configurationJoin =
  "LEFT JOIN configurations c ON m.json IS NULL AND c.position = m.position";

export function openConfigurations(db: DatabaseSync, terms: Terms): Configurations {
  const put = db.prepare(
    "INSERT OR REPLACE INTO configurations (position, crc, json) VALUES (?, ?, ?)",
  );
  const putBody = db.prepare(
    "INSERT OR REPLACE INTO bodies (position, crc, bytes) VALUES (?, ?, ?)",
  );
  const has = db.prepare("SELECT 1 FROM configurations WHERE position = ?");
  const removeConfigurations = db.prepare(`
    DELETE FROM configurations WHERE position IN (SELECT value FROM json_each(?))
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.position = configurations.position)
      AND NOT EXISTS (SELECT 1 FROM events WHERE events.message = configurations.position)
      AND NOT EXISTS (SELECT 1 FROM dead_letters WHERE dead_letters.message = configurations.position)`);
  // A name whose tombstone has not ended is removed when that ends (positions.ts).
  const removeNames = db.prepare(`
    DELETE FROM names WHERE position IN (SELECT value FROM json_each(?)) AND expires_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.position = names.position)
      AND NOT EXISTS (SELECT 1 FROM fan_outs WHERE fan_outs.position = names.position)
      AND NOT EXISTS (SELECT 1 FROM configurations WHERE configurations.position = names.position)`);
  const removeBodies = db.prepare(`
    DELETE FROM bodies WHERE position IN (SELECT value FROM json_each(?))
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.position = bodies.position)
      AND NOT EXISTS (SELECT 1 FROM fan_outs WHERE fan_outs.position = bodies.position)
      AND NOT EXISTS (SELECT 1 FROM dead_letters WHERE dead_letters.body_of = bodies.position)
      AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.body_of = bodies.position)`);
  const removeAnswers = db.prepare(`
    DELETE FROM answers WHERE position IN (SELECT value FROM json_each(?))
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.position = answers.position)
      AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.position = answers.position)`);
  return {
    put: (position, message) => {
      const json = configurationText(message);
      put.run(position, crc32(json), json);
      if (!message.run) terms.put(position, message);
    },
    putBody: (position, body) => void (body.length > 0 && putBody.run(position, crc32(body), body)),
    has: (position) => has.get(position) !== undefined,
    removeOrphans: (positions) => {
      removeConfigurations.run(positions);
      terms.removeOrphans(positions);
      removeBodies.run(positions);
      removeAnswers.run(positions);
      removeNames.run(positions);
    },
  };
}

export const configurationText = (message: Message): string =>
  JSON.stringify(configurationOf(message));

/** Names each field: a rest of all fields except the body costs more than writing the text. */
const configurationOf = (
  message: Message,
): { [Name in keyof Required<Configuration>]: Configuration[Name] } => ({
  id: message.id,
  format: message.format,
  tenant: message.tenant,
  dialect: message.dialect,
  shard: message.shard,
  createdAt: message.createdAt,
  notBefore: message.notBefore,
  url: message.url,
  method: message.method,
  headers: message.headers,
  bodyOf: message.bodyOf,
  policy: message.policy,
  origin: message.origin,
  queue: message.queue,
  flow: message.flow,
  turnOf: message.turnOf,
  run: message.run,
  trace: message.trace,
});

/** Thrown for a stored text or body that is not as it was written, which is not served. */
class DamagedError extends Error {
  override readonly name = "DamagedError";
}
export const isDamaged = (error: unknown): boolean =>
  Error.isError(error) && error.name === "DamagedError";

/** Returns the text of a row. Throws when its checksum is wrong. */
export function wholeText(row: Row, what = "a message"): string {
  const json = text(row["json"]);
  if (crc32(json) !== integer(row["crc"]))
    throw new DamagedError(`the configuration of ${what} is damaged`);
  return json;
}

export const configurationFrom = (row: Row): Configuration => stored<Configuration>(wholeText(row));

export const messageFrom = (row: Row): Message => withBody(configurationFrom(row), row);

/**
 * Checks the body only when the row holds all of it: a body that was cut (`body_bytes` is then larger) cannot be told from a damaged one.
 */
export const withBody = (configuration: Configuration, row: Row): Message => ({
  ...configuration,
  body: bodyFrom(row, configuration.id),
});

export function bodyFrom(row: Row, id: MessageId): Uint8Array {
  const body = optionalBytes(row["bytes"] ?? null) ?? noBody;
  const isWhole = body.length === (row["body_bytes"] ?? body.length);
  if (isWhole && crc32(body) !== (optionalInteger(row["body_crc"] ?? null) ?? 0))
    throw new DamagedError(`the body of ${id} is damaged`);
  return body;
}

const noBody = new Uint8Array(0);
