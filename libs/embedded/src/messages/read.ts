/** Reading whole records, and hints from hot rows alone. */
import { type Message, type MessageId, type MessageRecord, type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { integer, type Row, text } from "../database/rows.ts";
import { messageFrom } from "./configurations.ts";
import { idOf } from "./names.ts";
import { hotColumns, recordColumns, recordFrom, recordTables } from "./records.ts";
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
  const hotById = db.prepare(
    `SELECT ${hotColumns} FROM messages m WHERE m.position = ? AND m.name = ?`,
  );
  const standing = (row: Row, message: Message): Standing => {
    const position = integer(row["position"]);
    const items = integer(row["outbox"]) > 0 ? outbox.of(position) : [];
    return { position, record: recordFrom(row, message, items) };
  };
  return {
    recent: (id) => {
      const position = names.find(id)?.position;
      const record = position === undefined ? undefined : recent.get(position);
      return position !== undefined && record?.message.id === id ? { position, record } : undefined;
    },
    find: (id) => {
      const address = names.find(id);
      if (!address) return undefined;
      const message = recent.get(address.position)?.message;
      const row = (message ? hotById : byId).get(address.position, address.name);
      return row && standing(row, message ?? messageFrom(row));
    },
    at: (position) => {
      const row = byPosition.get(position);
      return row && standing(row, messageFrom(row));
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
