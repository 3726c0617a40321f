import { type DatabaseSync } from "node:sqlite";
import { type Log } from "@posthaste/ports";
import { type Alarms, openAlarms } from "../database/alarms.ts";
import { text } from "../database/rows.ts";
import { headColumns, runFrom } from "./rows.ts";

export const openRunAlarms = (db: DatabaseSync, log: Log): Alarms =>
  openAlarms(db, {
    table: "runs",
    key: "position",
    columns: `id, ${headColumns}`,
    read: (row) => {
      const { key, root } = runFrom(row);
      return { kind: "run", run: { key, root } };
    },
    damaged: (row, error) => log.error("store.damaged", { run: text(row["id"]), error }),
  });
