/** The Schedules port: each write is conditional on the version before it (docs/design/schedules#the-record). */
import { type Schedule } from "@posthaste/domain";
import { type Schedules } from "@posthaste/ports";
import { type Collection } from "mongodb";
import { newWrite } from "../writes/change-by-token.ts";
import { type Connection } from "../connection.ts";
import { insertMissing } from "../writes/insert-missing.ts";
import { writeAll } from "../writes/write-all.ts";
import { listByAge } from "../query/documents-within.ts";
import { createCounts } from "./counts.ts";
import {
  keyOf,
  movingPart,
  fieldsUpdate,
  scheduleFrom,
  schedulesName,
  type StoredSchedule,
  wholeFrom,
} from "./stored.ts";
import { idsOf } from "../query/ids-of.ts";

export function createSchedules(connection: Connection): Schedules {
  const { again, heavy, random } = connection;
  const schedules: Collection<StoredSchedule> = connection.collection(schedulesName);
  const counts = createCounts(connection, schedules);

  const ours = async (ids: readonly string[], write: string): Promise<ReadonlySet<string>> =>
    new Set(await idsOf(again, schedules, { _id: { $in: [...ids] }, write }));

  const insert = async (document: StoredSchedule): Promise<boolean> => {
    const known = await insertMissing(again, schedules, [document]);
    return known.size === 0 || (await ours([document._id], document.write)).size > 0;
  };

  const replace = async ({ body, ...schedule }: Schedule & { body?: Uint8Array }) => {
    const _id = keyOf(schedule);
    const write = newWrite(random);
    const update = fieldsUpdate({ ...schedule, write, ...(body && { body }) });
    const { matchedCount } = await again(() =>
      schedules.updateOne({ _id, version: schedule.version - 1 }, update),
    );
    return matchedCount > 0 || (await ours([_id], write)).size > 0;
  };

  return {
    put: async (schedule) => {
      if (schedule.version > 1) return replace(schedule);
      const made = { ...schedule, body: schedule.body ?? new Uint8Array() };
      const isMade = await insert({ ...made, _id: keyOf(schedule), write: newWrite(random) });
      if (isMade) counts.add(schedule.tenant, 1);
      return isMade;
    },
    move: async (moved) => {
      const write = newWrite(random);
      const operations = moved.map((schedule) => ({
        updateOne: {
          filter: { _id: keyOf(schedule), version: schedule.version - 1 },
          update: fieldsUpdate({ ...movingPart(schedule), write }),
        },
      }));
      const { matched } = await writeAll(again, schedules, operations);
      if (matched === moved.length) return moved.map(() => true);
      const made = await ours(moved.map(keyOf), write);
      return moved.map((schedule) => made.has(keyOf(schedule)));
    },
    get: async (keys) => {
      const ids = keys.map(keyOf);
      const found = await again(() => schedules.find({ _id: { $in: ids } }).toArray());
      const byId = new Map(found.map((stored) => [stored._id, stored]));
      return ids.map((id) => {
        const stored = byId.get(id);
        return stored && wholeFrom(stored);
      });
    },
    list: async (tenant, page) =>
      (await listByAge<StoredSchedule>(heavy, schedulesName, { tenant }, page, 1)).map(
        scheduleFrom,
      ),
    count: (tenant) => counts.of(tenant),
    remove: async (key) => {
      const { deletedCount } = await again(() => schedules.deleteOne({ _id: keyOf(key) }));
      counts.add(key.tenant, -deletedCount);
    },
  };
}
