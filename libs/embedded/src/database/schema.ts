import { type Schema } from "./migrate.ts";

/**
 * The schema. The first step makes that of the first release, and no step of a release is ever edited.
 * Keys are integers: a message is its position (libs/domain/src/shared/ids.ts), a tenant and a lane are small
 * numbers. The hot row of a message is the only one that is updated; its body is written once.
 */
export const schema: Schema = {
  firstVersion: 26,
  steps: [
    `
  CREATE TABLE tenants (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, json TEXT);
  CREATE TABLE tokens (
    hash TEXT PRIMARY KEY, tenant TEXT NOT NULL, scope TEXT NOT NULL, created_at INTEGER, name TEXT, expires_at INTEGER,
    used_at INTEGER) WITHOUT ROWID;
  CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- state: records.ts. until: due at, granted until, leased until, or ended at. outbox: how many follow-ups wait.
  -- turn_of: the message of a queue that a callback tells of. runs_until: state canceled only.
  -- Whole rows (messages/whole.ts) hold their configuration as crc and json, which are null in all others. created: the time of
  -- CREATED. told: from then to the beginning of the call that was delivered, which ended at until; null before.
  -- answer_: of the attempt that delivered: in the whole row, or in the event DELIVERED.
  CREATE TABLE messages (
    position INTEGER PRIMARY KEY, name TEXT NOT NULL, tenant INTEGER NOT NULL, shard INTEGER NOT NULL,
    origin INTEGER NOT NULL, state INTEGER NOT NULL, until INTEGER, hints INTEGER NOT NULL, wake_at INTEGER,
    epoch INTEGER NOT NULL, owner TEXT, retried INTEGER NOT NULL, lease_losses INTEGER NOT NULL,
    deferrals INTEGER NOT NULL, outbox INTEGER NOT NULL, lane INTEGER, body_of INTEGER,
    format INTEGER NOT NULL DEFAULT 1, body_bytes INTEGER, queue INTEGER, place INTEGER, turn_of INTEGER,
    runs_until INTEGER, created INTEGER, told INTEGER, crc INTEGER, json TEXT, answer_status INTEGER, answer_bytes INTEGER);
  CREATE INDEX messages_by_alarm ON messages (wake_at) WHERE wake_at IS NOT NULL AND state < 5;
  CREATE INDEX messages_to_follow_up ON messages (wake_at) WHERE wake_at IS NOT NULL AND state >= 5;
  CREATE INDEX messages_by_lane ON messages (lane, state) WHERE lane IS NOT NULL;
  CREATE INDEX messages_due ON messages (tenant, origin) WHERE state = 2;
  CREATE INDEX messages_in_queue ON messages (queue, state, place) WHERE queue IS NOT NULL;
  CREATE INDEX messages_of_turn ON messages (turn_of) WHERE turn_of IS NOT NULL;
  CREATE INDEX messages_unclaimed ON messages (tenant) WHERE state < 3;
  CREATE INDEX messages_logged ON messages (tenant) WHERE json IS NOT NULL;
  CREATE INDEX messages_ended ON messages (until) WHERE state >= 5 AND json IS NULL AND outbox = 0;

  CREATE TABLE configurations (position INTEGER PRIMARY KEY, crc INTEGER NOT NULL, json TEXT NOT NULL);
  CREATE TABLE bodies (position INTEGER PRIMARY KEY, crc INTEGER NOT NULL, bytes BLOB NOT NULL);
  -- What is kept of answers that delivered messages.
  CREATE TABLE answers (position INTEGER PRIMARY KEY, crc INTEGER NOT NULL, bytes BLOB NOT NULL);
  -- Bodies that stay after their records (kept-bodies.ts). at: when the message ended. body_of: whose row in bodies it is.
  CREATE TABLE kept (
    position INTEGER PRIMARY KEY, name TEXT NOT NULL, tenant INTEGER NOT NULL, at INTEGER NOT NULL, body_of INTEGER NOT NULL);
  CREATE INDEX kept_by_time ON kept (tenant, at);
  CREATE INDEX kept_by_body ON kept (body_of);
  -- Up to where the bodies of whole rows are swept.
  CREATE TABLE kept_up_to (tenant INTEGER PRIMARY KEY, position INTEGER NOT NULL);

  -- Ids that are derived from their cause; a tombstone while expires_at is ahead, a mere name once that is null and
  -- the message is gone.
  CREATE TABLE names (id TEXT PRIMARY KEY, position INTEGER NOT NULL, expires_at INTEGER) WITHOUT ROWID;
  CREATE INDEX names_by_position ON names (position);
  CREATE INDEX names_by_expiry ON names (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE outbox (
    key INTEGER PRIMARY KEY, message INTEGER NOT NULL, attempt INTEGER NOT NULL, kind TEXT NOT NULL,
    json TEXT NOT NULL, response BLOB);
  CREATE UNIQUE INDEX outbox_items ON outbox (message, attempt, kind);

  -- pins: 1 parallelism, 2 rate and period.
  CREATE TABLE lanes (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, flow_key TEXT NOT NULL,
    shard INTEGER NOT NULL, limits TEXT NOT NULL, wake_at INTEGER, window_started_at INTEGER,
    window_count INTEGER, seq INTEGER NOT NULL DEFAULT 0, format INTEGER NOT NULL DEFAULT 1,
    used_at INTEGER NOT NULL DEFAULT 0, paused INTEGER NOT NULL DEFAULT 0, pins INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX lanes_by_alarm ON lanes (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX lanes_at_rest ON lanes (used_at) WHERE wake_at IS NULL;

  -- step: attempt * 8 + rank of the state.
  CREATE TABLE events (
    tenant INTEGER NOT NULL, at INTEGER NOT NULL, message INTEGER NOT NULL, step INTEGER NOT NULL,
    answer_status INTEGER, answer_bytes INTEGER, PRIMARY KEY (tenant, at, message, step)) WITHOUT ROWID;
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

  -- headers: the defaults, as JSON.
  CREATE TABLE groups (
    tenant TEXT NOT NULL, name TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL, chunks TEXT NOT NULL, endpoint_count INTEGER NOT NULL, headers TEXT,
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
  CREATE TABLE search_indexes (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, json TEXT NOT NULL);

  -- place: given by the insert, each once. lag: its records that are not finished. ended_at: deleted then; what stands
  -- at purge_up_to or below is cancelled, also what is made anew under its name has higher places.
  CREATE TABLE queues (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, name TEXT NOT NULL, shard INTEGER NOT NULL,
    format INTEGER NOT NULL, parallelism INTEGER NOT NULL, paused INTEGER NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, ended_at INTEGER, purge_up_to INTEGER, last_place INTEGER NOT NULL DEFAULT 0,
    lag INTEGER NOT NULL DEFAULT 0, wake_at INTEGER, seq INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX queues_of_tenant ON queues (tenant, name);
  CREATE INDEX queues_by_alarm ON queues (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX queues_ended ON queues (ended_at) WHERE ended_at IS NOT NULL;
  -- Which messages have a turn, and since when. One that is finished keeps it until its callbacks have ended.
  CREATE TABLE turns (
    queue INTEGER NOT NULL, message INTEGER NOT NULL, given_at INTEGER, PRIMARY KEY (queue, message)) WITHOUT ROWID;

  -- Publishes to groups. up_to: of the children that exist. first, last: positions that are reserved for all of them.
  -- children: how many records use the body. queue_place: of the first child; as many are reserved as there are endpoints.
  CREATE TABLE fan_outs (
    position INTEGER PRIMARY KEY, name TEXT NOT NULL, tenant INTEGER NOT NULL, shard INTEGER NOT NULL,
    format INTEGER NOT NULL, up_to INTEGER NOT NULL, ended_at INTEGER, wake_at INTEGER, first INTEGER, last INTEGER,
    children INTEGER NOT NULL DEFAULT 0, crc INTEGER NOT NULL, json TEXT NOT NULL, queue INTEGER, queue_place INTEGER);
  CREATE INDEX fan_outs_by_alarm ON fan_outs (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX fan_outs_expanded ON fan_outs (ended_at) WHERE ended_at IS NOT NULL AND children = 0;
  CREATE INDEX fan_outs_in_queue ON fan_outs (queue, queue_place) WHERE queue IS NOT NULL AND ended_at IS NULL;

  CREATE TABLE schedules (
    key INTEGER PRIMARY KEY, tenant TEXT NOT NULL, id TEXT NOT NULL, shard INTEGER NOT NULL,
    created_at INTEGER NOT NULL, format INTEGER NOT NULL, version INTEGER NOT NULL, wake_at INTEGER,
    crc INTEGER NOT NULL, json TEXT NOT NULL);
  CREATE UNIQUE INDEX schedules_by_id ON schedules (tenant, id);
  CREATE INDEX schedules_by_age ON schedules (tenant, created_at, id);
  CREATE INDEX schedules_by_alarm ON schedules (wake_at) WHERE wake_at IS NOT NULL;
  CREATE TABLE schedule_bodies (schedule INTEGER PRIMARY KEY, crc INTEGER NOT NULL, bytes BLOB NOT NULL);
  CREATE TABLE schedule_counts (tenant TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;

  -- same: of what is under way, the hash of its work.
  CREATE TABLE bulk_actions (
    key INTEGER PRIMARY KEY, tenant TEXT NOT NULL, id TEXT NOT NULL UNIQUE, shard INTEGER NOT NULL,
    created_at INTEGER NOT NULL, version INTEGER NOT NULL, wake_at INTEGER, ended_at INTEGER, same TEXT,
    crc INTEGER NOT NULL, json TEXT NOT NULL, format INTEGER NOT NULL DEFAULT 1);
  CREATE INDEX bulk_actions_by_age ON bulk_actions (tenant, created_at, id);
  CREATE INDEX bulk_actions_by_alarm ON bulk_actions (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX bulk_actions_under_way ON bulk_actions (tenant, same) WHERE same IS NOT NULL;
  CREATE INDEX bulk_actions_ended ON bulk_actions (ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE spent (name TEXT PRIMARY KEY, n INTEGER NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX spent_by_expiry ON spent (until);

  -- What lists are asked for and few messages have, see terms.ts.
  CREATE TABLE terms (term TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (term, position)) WITHOUT ROWID;
  CREATE INDEX terms_by_position ON terms (position);

  -- The position is its root's. moving: all of a head that changes. dlq_at: of a dead letter, when it failed.
  -- rank: of an entry, its place in the history.
  CREATE TABLE runs (
    position INTEGER PRIMARY KEY, tenant TEXT NOT NULL, id TEXT NOT NULL, generation INTEGER NOT NULL,
    created_at INTEGER NOT NULL, ended_at INTEGER, shard INTEGER NOT NULL, wake_at INTEGER, crc INTEGER NOT NULL,
    dlq_at INTEGER, json TEXT NOT NULL, moving_crc INTEGER NOT NULL, moving TEXT NOT NULL,
    format INTEGER NOT NULL DEFAULT 1);
  CREATE INDEX runs_by_age ON runs (tenant, created_at, position);
  CREATE INDEX runs_active ON runs (tenant, created_at, position) WHERE ended_at IS NULL;
  CREATE INDEX runs_in_dlq ON runs (tenant, dlq_at, position) WHERE dlq_at IS NOT NULL;
  -- What lists are asked for and few runs have. at: of the run's start.
  CREATE TABLE run_terms (term TEXT NOT NULL, at INTEGER NOT NULL, run INTEGER NOT NULL,
    PRIMARY KEY (term, at, run)) WITHOUT ROWID;
  CREATE UNIQUE INDEX runs_by_id ON runs (tenant, id, generation);
  CREATE INDEX runs_ended ON runs (tenant, ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX runs_by_alarm ON runs (wake_at) WHERE wake_at IS NOT NULL;
  CREATE TABLE run_waits (tenant TEXT NOT NULL, event TEXT NOT NULL, run INTEGER NOT NULL,
    PRIMARY KEY (tenant, event, run)) WITHOUT ROWID;
  CREATE INDEX run_waits_by_run ON run_waits (run);
  CREATE TABLE run_parts (
    run INTEGER NOT NULL, name TEXT NOT NULL, rank INTEGER, at INTEGER NOT NULL, crc INTEGER NOT NULL,
    sent TEXT, bytes BLOB NOT NULL);
  CREATE UNIQUE INDEX run_parts_by_name ON run_parts (run, name);
  CREATE INDEX run_parts_by_rank ON run_parts (run, rank) WHERE rank IS NOT NULL;
  -- Attempts of deliveries: the fact, and what was answered.
  CREATE TABLE run_attempts (
    run INTEGER NOT NULL, part TEXT NOT NULL, attempt INTEGER NOT NULL, at INTEGER NOT NULL, json TEXT NOT NULL,
    response BLOB);
  CREATE UNIQUE INDEX run_attempts_by_part ON run_attempts (run, part, attempt);

  -- Events by minute (Unix minutes) and state (its rank).
  CREATE TABLE event_counts (
    tenant INTEGER NOT NULL, state INTEGER NOT NULL, minute INTEGER NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (tenant, minute, state)) WITHOUT ROWID;

  -- Entries have ids in the order of their time.
  CREATE TABLE audit_log (id TEXT PRIMARY KEY, tenant TEXT, expires_at INTEGER NOT NULL, json TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX audit_log_of_tenant ON audit_log (tenant, id) WHERE tenant IS NOT NULL;
  CREATE INDEX audit_log_by_expiry ON audit_log (expires_at);
  `,
  ],
};

export const databaseFile = "posthaste.db";
