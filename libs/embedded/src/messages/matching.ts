/**
 * Walking through the live messages of a tenant by position. Nothing else runs while rows are read, so few are read at a
 * time. A configuration is parsed only where its text holds what the filter asks for.
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
import { configurationFrom, isDamaged } from "./configurations.ts";
import { idOf } from "./names.ts";
import { firstFinishedCode, isUnderstood } from "./records.ts";
import { type Rooms } from "./rooms.ts";

const rowsPerTurn = 500;

export function openMatching({ db, tenants, writer }: Rooms): Records["matching"] {
  const select = db.prepare(`
    SELECT m.position, m.name, c.json, c.crc FROM messages m
    LEFT JOIN configurations c ON m.tenant = ? AND m.state < ${firstFinishedCode} AND m.${isUnderstood}
      AND c.position = m.position
    WHERE m.position > ? ORDER BY m.position LIMIT ?`);

  /** Of one turn. */
  const look = (tenant: TenantId, filter: LiveFilter, walk: Walk): Walked => {
    const { after = "0", upTo, foundMax, lookedMax } = walk;
    const last = positionOf(upTo.id) ?? Infinity;
    const ids: MessageId[] = [];
    let next = after;
    const rows = select.all(tenants.find(tenant) ?? null, Number(after), lookedMax);
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
    return rows.length < lookedMax ? { ids } : { ids, next };
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

/** A configuration that is damaged matches nothing. */
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

/** Looked for in the text as they stand there. */
const soughtFields = [
  "urls",
  "groups",
  "scheduleIds",
  "queueNames",
  "labels",
  "flowControlKeys",
  "callerIps",
] as const satisfies readonly (keyof MessageFilter)[];
/** More values than these cost more to look for than a text to parse. */
const soughtMax = 8;

const mayMatch = (filter: LiveFilter, json: string): boolean =>
  soughtFields.every((field) => {
    const values = filter[field];
    if (values === undefined || values.length > soughtMax) return true;
    return values.some((value) => json.includes(JSON.stringify(value)));
  });
