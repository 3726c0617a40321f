/** The RunLog port: lists runs by the times of starts and failures, along an index, through the connection of the lists. */
import { type DatabaseSync, type StatementSync } from "node:sqlite";
import {
  type FailedRunFilter,
  limits,
  type MessageId,
  matchesFailedRun,
  matchesRun,
  positionOf,
  type Run,
  type RunFilter,
  type RunIn,
  type RunPart,
  type TenantId,
} from "@posthaste/domain";
import { type RunLog } from "@posthaste/ports";
import { integer, type Row, text } from "../database/rows.ts";
import { isKnownFormat } from "../messages/records.ts";
import { type Store } from "../messages/store.ts";
import { type Chunk, readPage, type Scan } from "../query/keyset.ts";
import { openAttemptReading } from "./attempts.ts";
import { headColumns, partColumns, partFrom, runFrom, termOf } from "./rows.ts";

type Place = { readonly at: number; readonly position: number };
type Rows = (after: string | undefined, limit: number) => Chunk<Place>;

export function openRunLog(
  { runAttempts, writer }: Pick<Store, "runAttempts" | "writer">,
  reader: DatabaseSync,
  breathe: () => Promise<void>,
): RunLog {
  const rowsOf = openLists(reader);
  const attemptsOf = openAttemptReading(reader);
  const head = reader.prepare(
    `SELECT ${headColumns} FROM runs WHERE position = ? AND ${isKnownFormat}`,
  );
  const parts = reader.prepare(
    `SELECT ${partColumns} FROM run_parts WHERE run = ? AND name > ? ORDER BY name`,
  );
  const scan = <R extends Run>(
    rows: Rows,
    wants: (run: Run, place: Place) => run is R,
  ): Scan<Place, R> => ({
    rows,
    keyOf: ({ at, position }) => `${at}:${position}`,
    look: (place) => {
      const row = head.get(place.position);
      // The run was swept since its place was read, or is of a newer format.
      if (!row) return { bytes: 0 };
      const bytes = text(row["json"]).length + text(row["moving"]).length;
      const run = runFrom(row);
      return wants(run, place) ? { item: run, bytes } : { bytes };
    },
    breathe,
  });

  return {
    list: (tenant, filter, page) => {
      const wants = (run: Run): run is Run => run.tenant === tenant && matchesRun(filter, run);
      return readPage(scan(rowsOf.started(tenant, filter), wants), { ...page, order });
    },
    failed: (tenant, filter, page) => {
      const wants = (run: Run): run is RunIn<"failed"> =>
        isInDlq(run) && matchesFailedRun(filter, run);
      return readPage(scan(rowsOf.failed(tenant, filter), wants), { ...page, order });
    },
    parts: async ({ root }, after = "") => {
      await breathe();
      const found: RunPart[] = [];
      let bytes = 0;
      for (const row of parts.iterate(positionOrNone(root), after)) {
        const part = partFrom(row);
        found.push(part);
        bytes += part.body.length;
        if (bytes >= limits.runReadBytesMax) return { parts: found, next: part.name };
      }
      return { parts: found };
    },
    attempts: async ({ root }) => {
      await breathe();
      return attemptsOf(root);
    },
    append: (attempts) => writer.write(() => attempts.forEach(runAttempts.put), "accepted"),
  };
}

const isInDlq = (run: Run): run is RunIn<"failed"> =>
  run.state.kind === "failed" && run.state.failure.inDlq;

const order = "latestFirst";

const positionOrNone = (root: MessageId): number => positionOf(root) ?? -1;

/** Returns the rows that a list looks at: of one id, of one term, of named runs, of active runs, or all of the tenant. */
function openLists(reader: DatabaseSync) {
  const along = (at: string, key: string, table: string, where: string): StatementSync =>
    reader.prepare(`
      SELECT ${at} AS at, ${key} AS position FROM ${table} WHERE ${where}
      AND (${at}, ${key}) < (?3, ?4) AND ${at} BETWEEN ?5 AND ?6 ORDER BY ${at} DESC, ${key} DESC LIMIT ?7`);
  const ofRuns = (index: string, where: string): StatementSync =>
    along("created_at", "position", `runs INDEXED BY ${index}`, `tenant = ?1 AND ${where}`);
  const all = ofRuns("runs_by_age", "?2 IS NULL");
  const active = ofRuns("runs_active", "?2 IS NULL AND ended_at IS NULL");
  const ofId = ofRuns("runs_by_id", "id = ?2");
  const ofTerm = along("at", "run", "run_terms", "?1 IS NOT NULL AND term = ?2");
  const failed = along(
    "dlq_at",
    "position",
    "runs INDEXED BY runs_in_dlq",
    "tenant = ?1 AND ?2 IS NULL AND dlq_at IS NOT NULL",
  );
  const ofUse = reader.prepare(
    "SELECT created_at AS at, position FROM runs WHERE tenant = ? AND id = ? AND created_at = ?",
  );
  const ofRoot = reader.prepare(
    "SELECT created_at AS at, position FROM runs WHERE tenant = ? AND position = ?",
  );
  const failedAt = reader.prepare(
    "SELECT dlq_at AS at, position FROM runs WHERE tenant = ? AND dlq_at = ?",
  );

  const rows =
    (list: StatementSync, tenant: TenantId, value: string | null, { from, to }: Times): Rows =>
    (after, limit) => {
      const { at, position } = behind(after);
      // Enters the index where the page before ended, however far in that is.
      const found = list.all(
        tenant,
        value,
        at,
        position,
        from ?? 0,
        Math.min(to ?? last, at),
        limit,
      );
      return { rows: found.map(placeFrom), isLast: found.length < limit };
    };

  return {
    started: (tenant: TenantId, filter: RunFilter): Rows => {
      const { id, runs, roots } = filter;
      if (runs)
        return named(
          runs.flatMap(({ id, createdAt }) => ofUse.all(tenant, id, createdAt)),
          filter,
        );
      if (roots)
        return named(
          roots.flatMap((root) => ofRoot.all(tenant, positionOrNone(root))),
          filter,
        );
      if (id !== undefined) return rows(ofId, tenant, id, filter);
      const term = onlyTerm(tenant, filter);
      if (term !== undefined) return rows(ofTerm, tenant, term, filter);
      return rows(filter.states?.join() === "active" ? active : all, tenant, null, filter);
    },
    failed: (tenant: TenantId, filter: FailedRunFilter): Rows => {
      const { dlqIds } = filter;
      if (!dlqIds) return rows(failed, tenant, null, filter);
      const times = new Set(dlqIds.map((id) => Number.parseInt(id, 10)).filter(Number.isFinite));
      return named(
        [...times].flatMap((at) => failedAt.all(tenant, at)),
        filter,
      );
    },
  };
}

const { MAX_SAFE_INTEGER: last } = Number;

type Times = Pick<RunFilter, "from" | "to">;

const placeFrom = (row: Row): Place => ({
  at: integer(row["at"]),
  position: integer(row["position"]),
});

function behind(after: string | undefined): Place {
  if (after === undefined) return { at: last, position: last };
  const [at, position] = after.split(":").map(Number);
  return { at: at ?? 0, position: position ?? 0 };
}

/** Sorts in memory: named runs are few. */
function named(found: readonly Row[], { from = 0, to = Infinity }: Times): Rows {
  const places = new Map(found.map(placeFrom).map((place) => [place.position, place]));
  const sorted = [...places.values()]
    .filter(({ at }) => at >= from && at <= to)
    .toSorted((a, b) => b.at - a.at || b.position - a.position);
  return (after) => {
    const { at, position } = behind(after);
    const isBehind = (place: Place): boolean =>
      place.at < at || (place.at === at && place.position < position);
    return { rows: sorted.filter(isBehind), isLast: true };
  };
}

/** Returns the term of a filter that asks for exactly one value of a kind that few runs share. */
function onlyTerm(tenant: TenantId, filter: RunFilter): string | undefined {
  const { flowControlKeys, labels, urls } = filter;
  const [label] = labels ?? [];
  if (labels?.length === 1 && label !== undefined) return termOf(tenant, "label", label);
  const [key] = flowControlKeys ?? [];
  if (flowControlKeys?.length === 1 && key !== undefined) return termOf(tenant, "flow", key);
  const [url] = urls ?? [];
  return urls?.length === 1 && url !== undefined ? termOf(tenant, "url", url) : undefined;
}
