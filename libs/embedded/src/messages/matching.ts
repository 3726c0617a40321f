/**
 * Walks through the live messages of a tenant by position: those of a rare term of the filter, or else all. Nothing else runs while rows
 * are read, so each turn reads few. A configuration is parsed only if its text contains the values of the filter.
 */
import {
  type Configuration,
  type LiveFilter,
  matchesLive,
  type MessageFilter,
  type MessageId,
  positionOf,
  type TenantId,
} from "@posthaste/domain";
import { type Records, type Walk, type Walked } from "@posthaste/ports";
import { integer, optionalText, type Row, text } from "../database/rows.ts";
import { openTermReading } from "../terms.ts";
import {
  configurationColumns,
  configurationFrom,
  configurationJoin,
  isDamaged,
} from "./configurations.ts";
import { idOf } from "./positions.ts";
import { claimedCode, firstFinishedCode, isKnownFormat } from "./records.ts";
import { type Store } from "./store.ts";

const rowsPerTurn = 500;

export function openMatching({ claimed, db, tenants, writer }: Store): Records["matching"] {
  const columns = `m.position, m.name, m.state, ${configurationColumns}`;
  const live = `m.tenant = ? AND m.state < ${firstFinishedCode} AND m.${isKnownFormat}`;
  const unclaimed = `m.tenant = ? AND m.state < ${claimedCode} AND m.${isKnownFormat}`;
  const select = db.prepare(`
    SELECT ${columns} FROM messages m INDEXED BY messages_unclaimed ${configurationJoin}
    WHERE ${unclaimed} AND m.position > ? ORDER BY m.position LIMIT ?`);
  // CROSS JOIN makes the positions the outer loop, whatever the planner would choose.
  const selectAt = db.prepare(`
    SELECT ${columns} FROM json_each(?) p CROSS JOIN messages m ${configurationJoin}
    WHERE m.position = p.value AND ${live} ORDER BY m.position`);
  const rareOf = openTermReading(db);

  /** `end` is the last position looked at, or undefined at the end of the messages. */
  const rowsAfter = (
    tenant: TenantId,
    filter: LiveFilter,
    after: number,
    max: number,
  ): { readonly rows: readonly Row[]; readonly end: number | undefined } => {
    const key = tenants.find(tenant) ?? null;
    const rare = rareOf(tenant, filter);
    if (rare === undefined) {
      const rows = select.all(key, after, max);
      const end = rows.length < max ? undefined : integer(rows.at(-1)?.["position"]);
      const within = [...claimed].filter((p) => p > after && p <= (end ?? Infinity));
      if (within.length === 0) return { rows, end };
      rows.push(...selectAt.all(JSON.stringify(within), key).filter(isClaimed));
      return { rows: rows.sort((a, b) => integer(a["position"]) - integer(b["position"])), end };
    }
    const ahead = rare.filter((position) => position > after).toSorted((a, b) => a - b);
    const some = ahead.slice(0, max);
    const rows = selectAt.all(JSON.stringify(some), key);
    return { rows, end: ahead.length > max ? some.at(-1) : undefined };
  };

  const look = (tenant: TenantId, filter: LiveFilter, walk: Walk): Walked => {
    const { after = "0", upTo, foundMax, lookedMax } = walk;
    const last = positionOf(upTo.id) ?? Infinity;
    const ids: MessageId[] = [];
    let next = after;
    const { rows, end } = rowsAfter(tenant, filter, Number(after), lookedMax);
    for (const row of rows) {
      if (ids.length === foundMax) return { ids, next };
      const position = integer(row["position"]);
      if (position > last) return { ids };
      const found = matched(filter, row);
      if (found && found.createdAt <= upTo.at) {
        ids.push(idOf({ position, name: text(row["name"]) }));
      }
      next = String(position);
    }
    return end === undefined ? { ids } : { ids, next: String(end) };
  };

  return async (tenant, filter, walk) => {
    const ids: MessageId[] = [];
    let after = walk.after;
    for (let looked = 0; looked < walk.lookedMax; looked += rowsPerTurn) {
      const turn = {
        ...walk,
        ...(after !== undefined && { after }),
        foundMax: walk.foundMax - ids.length,
        lookedMax: Math.min(rowsPerTurn, walk.lookedMax - looked),
      };
      const { ids: found, ...walked } = await writer.read(() => look(tenant, filter, turn));
      ids.push(...found);
      if (walked.next === undefined) return { ids };
      after = walked.next;
      if (ids.length === walk.foundMax) break;
    }
    return { ids, ...(after !== undefined && { next: after }) };
  };
}

const isClaimed = (row: Row): boolean => integer(row["state"]) === claimedCode;

/** Returns undefined for a damaged configuration too: it matches nothing. */
function matched(filter: LiveFilter, row: Row): Configuration | undefined {
  const json = optionalText(row["json"]);
  if (json === undefined || !mayMatch(filter, json)) return undefined;
  try {
    const configuration = configurationFrom(row);
    return matchesLive(filter, configuration) ? configuration : undefined;
  } catch (error) {
    if (isDamaged(error)) return undefined;
    throw error;
  }
}

/** Fields whose values are in the text as the filter names them. */
const soughtFields = [
  "urls",
  "groups",
  "scheduleIds",
  "queueNames",
  "labels",
  "flowControlKeys",
  "callerIps",
] as const satisfies readonly (keyof MessageFilter)[];
/** Searching for more values than this costs more than parsing the text. */
const soughtMax = 8;

const mayMatch = (filter: LiveFilter, json: string): boolean =>
  soughtFields.every((field) => {
    const values = filter[field];
    if (values === undefined || values.length > soughtMax) return true;
    return values.some((value) => json.includes(JSON.stringify(value)));
  });
