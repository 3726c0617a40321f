/** Reading whole records, and hints from hot rows alone. */
import { type MessageId, type MessageRecord, type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { integer, type Row, text } from "../database/rows.ts";
import { messageFrom } from "./configurations.ts";
import { idOf } from "./names.ts";
import { recordColumns, recordFrom, recordTables } from "./records.ts";
import { type Rooms } from "./rooms.ts";

/** A record as it stands, and where. */
export type Standing = { readonly position: number; readonly record: MessageRecord };

export type Reading = {
  /** As it was inserted a moment ago; since then it may have changed. */
  readonly recent: (id: MessageId) => Standing | undefined;
  readonly find: (id: MessageId) => Standing | undefined;
  readonly at: (position: number) => Standing | undefined;
  readonly hint: (row: Row) => Hint;
};

/** The columns that `hint` reads. */
export const hintColumns = "position, name, tenant, origin, epoch";

export function openReading({ db, names, outbox, recent, tenants }: Rooms): Reading {
  const byId = db.prepare(
    `SELECT ${recordColumns} FROM ${recordTables} WHERE m.position = ? AND m.name = ?`,
  );
  const byPosition = db.prepare(
    `SELECT ${recordColumns} FROM ${recordTables} WHERE m.position = ?`,
  );
  const standing = (row: Row): Standing => {
    const position = integer(row["position"]);
    const items = integer(row["outbox"]) > 0 ? outbox.of(position) : [];
    return { position, record: recordFrom(row, messageFrom(row), items) };
  };
  return {
    recent: (id) => {
      const address = names.find(id);
      if (!address) return undefined;
      const { position } = address;
      const record = recent.get(position);
      return record?.message.id === id ? { position, record } : undefined;
    },
    find: (id) => {
      const address = names.find(id);
      const row = address && byId.get(address.position, address.name);
      return row && standing(row);
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
    }),
  };
}

/** Another tenant's record is as unknown as one that never was. */
export const ofTenant = (tenant: TenantId, found: Standing | undefined): Standing | undefined =>
  found?.record.message.tenant === tenant ? found : undefined;
