/** The Groups port: a head row lists immutable chunks (docs/design/record#fan-out). */
import { type DatabaseSync } from "node:sqlite";
import {
  type Endpoint,
  type Group,
  type GroupChunkId,
  groupChangedAt,
  groupChunkId,
  groupChunkMax,
  type Headers,
  type TenantId,
  tenantId,
  limits,
  cutOff,
} from "@posthaste/domain";
import { type Clock, type Groups, type Random } from "@posthaste/ports";
import { integer, optionalText, type Row, stored, text } from "./database/rows.ts";
import { type Writer } from "./database/writer.ts";

const chunkRandomLength = 20;

export function openGroups(db: DatabaseSync, writer: Writer, clock: Clock, random: Random): Groups {
  const { find, ...reads } = openReads(db);
  const insertChunk = db.prepare("INSERT INTO chunks (id, tenant, json) VALUES (?, ?, ?)");
  const put = db.prepare(`
    INSERT INTO groups (tenant, name, created_at, updated_at, version, chunks, endpoint_count)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, name) DO UPDATE SET updated_at = excluded.updated_at, version = excluded.version,
      chunks = excluded.chunks, endpoint_count = excluded.endpoint_count`);
  const configure = db.prepare(
    "UPDATE groups SET headers = ?, updated_at = ? WHERE tenant = ? AND name = ?",
  );
  const removeHead = db.prepare(removeHeadSql);
  const retire = db.prepare("UPDATE chunks SET replaced_at = ? WHERE id = ?");
  const sweep = db.prepare(`
    DELETE FROM chunks WHERE key IN (
      SELECT key FROM chunks WHERE replaced_at <= ?
        AND NOT EXISTS (SELECT 1 FROM chunk_uses WHERE chunk_uses.chunk = chunks.id) LIMIT ?)`);

  const writeChunks = (
    tenant: TenantId,
    endpoints: readonly Endpoint[],
  ): readonly GroupChunkId[] => {
    const chunks: GroupChunkId[] = [];
    for (let from = 0; from < endpoints.length; from += groupChunkMax) {
      const id = groupChunkId(random.text(chunkRandomLength));
      insertChunk.run(id, tenant, JSON.stringify(endpoints.slice(from, from + groupChunkMax)));
      chunks.push(id);
    }
    return chunks;
  };
  const retireChunks = ({ chunks }: Group): void => {
    for (const chunk of chunks) retire.run(clock.now(), chunk);
  };

  return {
    get: (tenant, name) => writer.read(() => find(tenant, name)),
    list: (tenant, { after, limit }) => writer.read(() => reads.page(tenant, after, limit)),
    count: (tenant, countMax) => writer.read(() => reads.count(tenant, countMax)),
    endpoints: (tenant, chunks) =>
      writer.read(() => chunks.flatMap((chunk) => reads.endpoints(tenant, chunk))),
    replace: (tenant, name, version, endpoints, intake) =>
      writer.write(() => {
        const current = find(tenant, name);
        if (current?.version !== version) return false;
        const changedAt = groupChangedAt(clock.now());
        const chunks = JSON.stringify(writeChunks(tenant, endpoints));
        put.run(
          tenant,
          name,
          current?.createdAt ?? changedAt,
          changedAt,
          (version ?? changedAt) + 1,
          chunks,
          endpoints.length,
        );
        if (current) retireChunks(current);
        return true;
      }, intake),
    configure: (tenant, name, headers) =>
      writer.write(() => {
        const json = headers.length > 0 ? JSON.stringify(headers) : null;
        return configure.run(json, groupChangedAt(clock.now()), tenant, name).changes > 0;
      }, "accepted"),
    remove: (tenant, name, version) =>
      writer.write(() => {
        const head = removeHead.get(tenant, name, version ?? null);
        if (head) retireChunks(groupFrom(head));
      }, "accepted"),
    sweep: (limit) =>
      writer.write(
        () => Number(sweep.run(cutOff(limits.replacedChunkKeptMs, clock.now()), limit).changes),
        "accepted",
      ),
  };
}

function openReads(db: DatabaseSync) {
  const select = db.prepare("SELECT * FROM groups WHERE tenant = ? AND name = ?");
  const selectPage = db.prepare(
    "SELECT * FROM groups WHERE tenant = ? AND name > ? ORDER BY name LIMIT ?",
  );
  const selectCount = db.prepare(
    "SELECT count(*) AS count FROM (SELECT 1 FROM groups WHERE tenant = ? LIMIT ?)",
  );
  const selectChunk = db.prepare("SELECT json FROM chunks WHERE id = ? AND tenant = ?");
  return {
    find: (tenant: TenantId, name: string): Group | undefined => {
      const row = select.get(tenant, name);
      return row && groupFrom(row);
    },
    page: (tenant: TenantId, after: string, limit: number): readonly Group[] =>
      selectPage.all(tenant, after, limit).map(groupFrom),
    count: (tenant: TenantId, countMax: number): number =>
      integer(selectCount.get(tenant, countMax)?.["count"]),
    endpoints: (tenant: TenantId, chunk: GroupChunkId): readonly Endpoint[] => {
      const row = selectChunk.get(chunk, tenant);
      if (!row) throw new Error(`the chunk ${chunk} of a group is missing`);
      return stored<readonly Endpoint[]>(text(row["json"]));
    },
  };
}

/** Without a version, removes the head whatever its version. */
const removeHeadSql =
  "DELETE FROM groups WHERE tenant = ? AND name = ? AND version = coalesce(?, version) RETURNING *";

const headersFrom = (json: string | undefined): Pick<Group, "headers"> =>
  json === undefined ? {} : { headers: stored<Headers>(json) };

const groupFrom = (row: Row): Group => ({
  tenant: tenantId(text(row["tenant"])),
  name: text(row["name"]),
  createdAt: integer(row["created_at"]),
  updatedAt: integer(row["updated_at"]),
  version: integer(row["version"]),
  chunks: stored<readonly GroupChunkId[]>(text(row["chunks"])),
  endpointCount: integer(row["endpoint_count"]),
  ...headersFrom(optionalText(row["headers"])),
});
