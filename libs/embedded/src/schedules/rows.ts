/** Schedules as JSON. The alarm has a column of its own, so that a ring moves it without reading the rest. */
import { crc32 } from "node:zlib";
import { type Schedule } from "@posthaste/domain";
import { integer, optionalInteger, type Row, stored, text } from "../database/rows.ts";

export const textOf = ({ wakeAt: _, ...schedule }: Schedule): string => JSON.stringify(schedule);

export function scheduleFrom(row: Row): Schedule {
  const json = text(row["json"]);
  if (crc32(json) !== integer(row["crc"])) throw new Error("a schedule is damaged");
  const wakeAt = optionalInteger(row["wake_at"] ?? null);
  return { ...stored<Schedule>(json), ...(wakeAt !== undefined && { wakeAt }) };
}
