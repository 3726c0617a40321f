/** Reads whole records, and hints from hot rows alone. */
import {
  limits,
  type MessageId,
  type MessageRecord,
  sizeOf,
  type TenantId,
} from "@posthaste/domain";
import { type Hint, type Some } from "@posthaste/ports";
import { integer, type Row, text } from "../database/rows.ts";
import { isDamaged, messageFrom } from "./configurations.ts";
import { idOf } from "./positions.ts";
import {
  bodilessColumns,
  bodilessTables,
  isKnownFormat,
  recordColumns,
  recordFrom,
  recordTables,
} from "./records.ts";
import { type Store } from "./store.ts";

/** A stored record and its position. A record of a newer format is treated as missing. */
export type PositionedRecord = { readonly position: number; readonly record: MessageRecord };

type SlimStanding = PositionedRecord & { readonly hasOutbox: boolean };

export type Reading = {
  /** Returns the record as it was inserted a moment ago; it may have changed since. */
  readonly recent: (id: MessageId) => PositionedRecord | undefined;
  readonly find: (id: MessageId) => PositionedRecord | undefined;
  /** Returns undefined for a damaged record, too, which is logged. */
  readonly sound: (id: MessageId) => PositionedRecord | undefined;
  /** Reads the record without body and outbox. */
  readonly slim: (id: MessageId) => SlimStanding | undefined;
  readonly at: (position: number) => PositionedRecord | undefined;
  readonly hint: (row: Row) => Hint;
};

export const hintColumns = "position, name, tenant, origin, epoch, body_bytes";

export function openReading({ db, finished, log, names, outbox, recent, tenants }: Store): Reading {
  const at = `SELECT ${recordColumns} FROM ${recordTables} WHERE m.position = ? AND m.${isKnownFormat}`;
  const byId = db.prepare(`${at} AND m.name = ?`);
  const slimById = db.prepare(`
    SELECT ${bodilessColumns} FROM ${bodilessTables} WHERE m.position = ? AND m.${isKnownFormat} AND m.name = ?`);
  const byPosition = db.prepare(at);
  const isRemoved = (row: Row): boolean =>
    row["told"] !== null && !finished.standsWhole(integer(row["position"]));
  const standing = (row: Row): PositionedRecord | undefined => {
    if (isRemoved(row)) return undefined;
    const position = integer(row["position"]);
    const items = integer(row["outbox"]) > 0 ? outbox.of(position) : [];
    return { position, record: recordFrom(row, messageFrom(row), items) };
  };
  const find = (id: MessageId): PositionedRecord | undefined => {
    const address = names.find(id);
    const row = address && byId.get(address.position, address.name);
    return row && standing(row);
  };
  return {
    recent: (id) => {
      const address = names.find(id);
      if (!address) return undefined;
      const { position } = address;
      const record = recent.get(position);
      return record?.message.id === id ? { position, record } : undefined;
    },
    find,
    sound: (id) => {
      try {
        return find(id);
      } catch (error) {
        if (!isDamaged(error)) throw error;
        log.error("store.damaged", { messageId: id, error });
        return undefined;
      }
    },
    slim: (id) => {
      const address = names.find(id);
      const row = address && slimById.get(address.position, address.name);
      if (!row || isRemoved(row)) return undefined;
      const position = integer(row["position"]);
      const record = recordFrom(row, messageFrom(row), []);
      return { position, record, hasOutbox: integer(row["outbox"]) > 0 };
    },
    at: (position) => {
      const row = byPosition.get(position);
      return row && standing(row);
    },
    hint: (row) => ({
      id: idOf({ position: integer(row["position"]), name: text(row["name"]) }),
      tenant: tenants.name(integer(row["tenant"])),
      origin: integer(row["origin"]),
      epoch: integer(row["epoch"]),
      bytes: integer(row["body_bytes"]),
    }),
  };
}

/** Treats another tenant's record as missing. */
export const ofTenant = <S extends PositionedRecord>(
  tenant: TenantId,
  found: S | undefined,
): S | undefined => (found?.record.message.tenant === tenant ? found : undefined);

export function someOf(reading: Reading, tenant: TenantId, ids: readonly MessageId[]): Some {
  const records: MessageRecord[] = [];
  let bytes = 0;
  for (const [n, id] of ids.entries()) {
    if (bytes >= limits.readBytesMax) return { records, left: ids.slice(n) };
    const found = ofTenant(tenant, reading.find(id));
    if (!found) continue;
    records.push(found.record);
    bytes += sizeOf(found.record);
  }
  return { records, left: [] };
}
