/** Bulk actions as JSON. The alarm has a column of its own, so that a ring moves it without reading the rest. */
import { crc32 } from "node:zlib";
import { type BulkAction } from "@posthaste/domain";
import { integer, optionalInteger, type Row, stored, text } from "../database/rows.ts";

export function textOf({ wakeAt: _, ...action }: BulkAction): {
  readonly json: string;
  readonly crc: number;
} {
  const json = JSON.stringify(action);
  return { json, crc: crc32(json) };
}

export function actionFrom(row: Row): BulkAction {
  const json = text(row["json"]);
  if (crc32(json) !== integer(row["crc"])) throw new Error("a bulk action is damaged");
  const wakeAt = optionalInteger(row["wake_at"] ?? null);
  return { ...stored<BulkAction>(json), ...(wakeAt !== undefined && { wakeAt }) };
}
