import { type DatabaseSync } from "node:sqlite";
import { type Log } from "@posthaste/ports";
import { type Alarms, openAlarms } from "../database/alarms.ts";
import { text } from "../database/rows.ts";
import { actionFrom } from "./rows.ts";

export const openBulkAlarms = (db: DatabaseSync, log: Log): Alarms =>
  openAlarms(db, {
    table: "bulk_actions",
    key: "key",
    columns: "id, json, crc, wake_at",
    read: (row) => ({ kind: "bulkAction", action: actionFrom(row) }),
    damaged: (row, error) => log.error("store.damaged", { bulkAction: text(row["id"]), error }),
  });
