/** The Sizes port: counts along an index, up to the given bound, on the connection that only reads. */
import { type DatabaseSync } from "node:sqlite";
import { type Sizes } from "@posthaste/ports";
import { integer, optionalInteger } from "./database/rows.ts";
import { stateCodes } from "./messages/records.ts";

export function openSizes(reader: DatabaseSync): Sizes {
  const waiting = reader.prepare(`
    SELECT coalesce(sum(state = ${stateCodes.waiting}), 0) AS n FROM (
      SELECT state FROM messages WHERE lane IS NOT NULL LIMIT ?)`);
  const queued = reader.prepare(`
    SELECT count(*) AS n FROM (
      SELECT 1 FROM messages WHERE queue IS NOT NULL AND state = ${stateCodes.queued} LIMIT ?)`);
  const deadLetters = reader.prepare(
    "SELECT count(*) AS n FROM (SELECT 1 FROM dead_letters LIMIT ?)",
  );
  const activeRuns = reader.prepare(`
    SELECT count(*) AS n FROM (
      SELECT 1 FROM runs INDEXED BY runs_active WHERE ended_at IS NULL LIMIT ?)`);
  const waitingRuns = reader.prepare(`
    SELECT count(*) AS n FROM (
      SELECT DISTINCT run FROM run_waits INDEXED BY run_waits_by_run LIMIT ?)`);
  const runAlarm = reader.prepare("SELECT min(wake_at) AS at FROM runs WHERE wake_at IS NOT NULL");
  return {
    waiting: async (max) => integer(waiting.get(max)?.["n"]),
    queued: async (max) => integer(queued.get(max)?.["n"]),
    deadLetters: async (max) => integer(deadLetters.get(max)?.["n"]),
    activeRuns: async (max) => integer(activeRuns.get(max)?.["n"]),
    waitingRuns: async (max) => integer(waitingRuns.get(max)?.["n"]),
    runAlarm: async () => optionalInteger(runAlarm.get()?.["at"] ?? null),
  };
}
