import { type DatabaseSync } from "node:sqlite";
import { type Log } from "@posthaste/ports";
import { type Alarms, openAlarms } from "../database/alarms.ts";
import { text } from "../database/rows.ts";
import { scheduleFrom } from "./rows.ts";

export const openScheduleAlarms = (db: DatabaseSync, log: Log): Alarms =>
  openAlarms(db, {
    table: "schedules",
    key: "key",
    columns: "id, json, crc, wake_at",
    read: (row) => ({ kind: "schedule", schedule: scheduleFrom(row) }),
    damaged: (row, error) => log.error("store.damaged", { schedule: text(row["id"]), error }),
  });
