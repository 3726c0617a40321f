/**
 * The schema, as the list of its migrations: version n is what the first n make. A released migration is never edited.
 *
 * Keys are integers throughout: a message is its position (libs/domain/src/shared/ids.ts), a tenant and a lane are small
 * numbers. The hot row of a message is small and is the only one that is updated; configuration and body are written once.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE tenants (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, json TEXT);
  CREATE TABLE tokens (hash TEXT PRIMARY KEY, tenant TEXT NOT NULL, scope TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- state: records.ts. until: due at, granted until, leased until, expanded up to, or ended at.
  -- outbox, children: how many follow-ups wait, how many children use the body.
  CREATE TABLE messages (
    position INTEGER PRIMARY KEY, name TEXT NOT NULL, tenant INTEGER NOT NULL, shard INTEGER NOT NULL,
    origin INTEGER NOT NULL, state INTEGER NOT NULL, until INTEGER, hints INTEGER NOT NULL, wake_at INTEGER,
    epoch INTEGER NOT NULL, owner TEXT, retried INTEGER NOT NULL, lease_losses INTEGER NOT NULL,
    deferrals INTEGER NOT NULL, outbox INTEGER NOT NULL, lane INTEGER, body_of INTEGER,
    children INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX messages_by_alarm ON messages (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX messages_by_lane ON messages (lane, state) WHERE lane IS NOT NULL;
  CREATE INDEX messages_due ON messages (tenant, origin) WHERE state = 2;

  CREATE TABLE configurations (position INTEGER PRIMARY KEY, crc INTEGER NOT NULL, json TEXT NOT NULL);
  CREATE TABLE bodies (position INTEGER PRIMARY KEY, crc INTEGER NOT NULL, bytes BLOB NOT NULL);

  -- Ids that are derived from their cause; a tombstone while expires_at is ahead, a mere name once that is null and
  -- the message is gone.
  CREATE TABLE names (id TEXT PRIMARY KEY, position INTEGER NOT NULL, expires_at INTEGER) WITHOUT ROWID;
  CREATE INDEX names_by_position ON names (position);
  CREATE INDEX names_by_expiry ON names (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE outbox (
    key INTEGER PRIMARY KEY, message INTEGER NOT NULL, attempt INTEGER NOT NULL, kind TEXT NOT NULL,
    json TEXT NOT NULL, response BLOB);
  CREATE UNIQUE INDEX outbox_items ON outbox (message, attempt, kind);

  CREATE TABLE lanes (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, flow_key TEXT NOT NULL,
    shard INTEGER NOT NULL, limits TEXT NOT NULL, wake_at INTEGER, window_started_at INTEGER,
    window_count INTEGER, seq INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX lanes_by_alarm ON lanes (wake_at) WHERE wake_at IS NOT NULL;

  -- step: attempt * 8 + rank of the state.
  CREATE TABLE events (
    tenant INTEGER NOT NULL, at INTEGER NOT NULL, message INTEGER NOT NULL, step INTEGER NOT NULL,
    PRIMARY KEY (tenant, at, message, step)) WITHOUT ROWID;
  CREATE INDEX events_by_message ON events (message);
  CREATE TABLE details (
    key INTEGER PRIMARY KEY, message INTEGER NOT NULL, attempt INTEGER NOT NULL, json TEXT NOT NULL, response BLOB);
  CREATE UNIQUE INDEX details_of_attempt ON details (message, attempt);

  -- body_of: whose row in bodies it shares.
  CREATE TABLE dead_letters (
    key INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, id TEXT NOT NULL, failed_at INTEGER NOT NULL,
    reason TEXT NOT NULL, retried INTEGER NOT NULL, message INTEGER NOT NULL, body_of INTEGER NOT NULL,
    error TEXT, answer TEXT, response BLOB);
  CREATE UNIQUE INDEX dead_letters_by_id ON dead_letters (tenant, id);
  CREATE INDEX dead_letters_by_message ON dead_letters (message);
  CREATE INDEX dead_letters_by_body ON dead_letters (body_of);
  CREATE INDEX dead_letters_by_time ON dead_letters (failed_at);

  CREATE TABLE groups (
    tenant TEXT NOT NULL, name TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL, chunks TEXT NOT NULL, endpoint_count INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)) WITHOUT ROWID;
  CREATE TABLE chunks (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, json TEXT NOT NULL, replaced_at INTEGER);
  CREATE INDEX chunks_replaced ON chunks (replaced_at) WHERE replaced_at IS NOT NULL;
  -- Which unexpanded parents refer to which chunks.
  CREATE TABLE chunk_uses (chunk TEXT NOT NULL, parent INTEGER NOT NULL, PRIMARY KEY (chunk, parent)) WITHOUT ROWID;
  CREATE INDEX chunk_uses_by_parent ON chunk_uses (parent);

  -- Deduplication windows that are done.
  CREATE TABLE windows (key TEXT PRIMARY KEY, id TEXT NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX windows_by_expiry ON windows (until);
  `,
  `
  ALTER TABLE tokens ADD COLUMN created_at INTEGER;
  CREATE TABLE search_indexes (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, json TEXT NOT NULL);
  `,
];
