/**
 * Configurations and bodies: what of a message never changes, written once, each with a checksum, so that a flipped bit
 * is noticed instead of delivered. A configuration outlives its record as long as the log or a dead letter refers to it.
 * Children of a group publish share their parent's body.
 */
import { type DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { type Message } from "@posthaste/domain";
import {
  integer,
  optionalBytes,
  optionalInteger,
  type Row,
  stored,
  text,
} from "../database/rows.ts";

export type Configuration = Omit<Message, "body">;

export type Configurations = {
  put(position: number, message: Message): void;
  putBody(position: number, body: Uint8Array): void;
  has(position: number): boolean;
  /** Inside a write: of `positions` (a JSON array), what nothing refers to any more. */
  removeOrphans(positions: string): void;
};

/** The columns that `messageFrom` reads, with `configurations` as c and `bodies` as b. */
export const messageColumns = "c.json, c.crc, b.bytes, b.crc AS body_crc";

export function openConfigurations(db: DatabaseSync): Configurations {
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
  // Those with a tombstone ahead go when it ends (names.ts).
  const removeNames = db.prepare(`
    DELETE FROM names WHERE position IN (SELECT value FROM json_each(?)) AND expires_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.position = names.position)
      AND NOT EXISTS (SELECT 1 FROM configurations WHERE configurations.position = names.position)`);
  const removeBodies = db.prepare(`
    DELETE FROM bodies WHERE position IN (SELECT value FROM json_each(?))
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.position = bodies.position)
      AND NOT EXISTS (SELECT 1 FROM dead_letters WHERE dead_letters.body_of = bodies.position)`);
  return {
    put: (position, message) => {
      const json = JSON.stringify(configurationOf(message));
      put.run(position, crc32(json), json);
    },
    putBody: (position, body) => void (body.length > 0 && putBody.run(position, crc32(body), body)),
    has: (position) => has.get(position) !== undefined,
    removeOrphans: (positions) => {
      removeConfigurations.run(positions);
      removeBodies.run(positions);
      removeNames.run(positions);
    },
  };
}

/** Each by name: a rest of all but the body costs more than writing the text. */
const configurationOf = (
  message: Message,
): { [Name in keyof Required<Configuration>]: Configuration[Name] } => ({
  id: message.id,
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
  flowLane: message.flowLane,
  fanOut: message.fanOut,
  trace: message.trace,
});

/** A stored text or body is not what was written: it is not served. */
class DamagedError extends Error {
  override readonly name = "DamagedError";
}
export const isDamaged = (error: unknown): boolean =>
  Error.isError(error) && error.name === "DamagedError";

export function configurationFrom(row: Row): Configuration {
  const json = text(row["json"]);
  if (crc32(json) !== integer(row["crc"]))
    throw new DamagedError("the configuration of a message is damaged");
  return stored<Configuration>(json);
}

export function messageFrom(row: Row): Message {
  const configuration = configurationFrom(row);
  const body = optionalBytes(row["bytes"]) ?? noBody;
  if (crc32(body) !== (optionalInteger(row["body_crc"]) ?? 0)) {
    throw new DamagedError(`the body of ${configuration.id} is damaged`);
  }
  return { ...configuration, body };
}

const noBody = new Uint8Array(0);
