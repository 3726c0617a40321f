/** The BulkActions port: each write after the first is conditional on the version before it (docs/design/bulk). */
import { type BulkAction } from "@posthaste/domain";
import { type BulkActions } from "@posthaste/ports";
import { type Collection } from "mongodb";
import { newWrite } from "../writes/change-by-token.ts";
import { type Connection } from "../connection.ts";
import { insertMissing } from "../writes/insert-missing.ts";
import { isKnownFormat } from "../messages/stored.ts";
import { listByAge } from "../query/documents-within.ts";
import { actionFrom, bulkActionsName, keyOf, sameOf, type StoredBulkAction } from "./stored.ts";
import { removeSome } from "../query/ids-of.ts";

export function createBulkActions(connection: Connection): BulkActions {
  const { again, heavy, random } = connection;
  const actions: Collection<StoredBulkAction> = connection.collection(bulkActionsName);

  return {
    add: async (action, underWayMax) => {
      const { tenant } = action;
      const same = sameOf(action);
      const known = await again(() => actions.findOne({ tenant, same }));
      if (known) return actionFrom(known);
      const underWay = { tenant, same: { $exists: true } };
      const count = await again(() => actions.countDocuments(underWay, { limit: underWayMax }));
      if (count >= underWayMax) return "full";
      const _id = keyOf(tenant, action.id);
      // An action that is there already was inserted by an earlier try whose reply was lost.
      await insertMissing(again, actions, [{ ...action, _id, same, write: newWrite(random) }]);
      return action;
    },
    move: async (action) => {
      const _id = keyOf(action.tenant, action.id);
      const write = newWrite(random);
      const update = alarmUpdate(action, write);
      const before = { _id, version: action.version - 1 };
      const { matchedCount } = await again(() => actions.updateOne(before, update));
      if (matchedCount > 0) return true;
      return (await again(() => actions.findOne({ _id, write }))) !== null;
    },
    get: async (tenant, id) => {
      const stored = await again(() =>
        actions.findOne({ _id: keyOf(tenant, id), ...isKnownFormat }),
      );
      return stored ? actionFrom(stored) : undefined;
    },
    list: async (tenant, page) => {
      const filter = { tenant, ...isKnownFormat };
      return (await listByAge<StoredBulkAction>(heavy, bulkActionsName, filter, page, -1)).map(
        actionFrom,
      );
    },
    removeEnded: async (endedBefore, limit) => {
      const ended = { completedAt: { $lt: endedBefore, $exists: true } };
      await removeSome(again, actions, ended, { limit });
    },
  };
}

/** An action under way has an alarm; an ended one has neither alarm nor `same`. */
const alarmUpdate = (
  { place, processed, total, version, wakeAt, completedAt }: BulkAction,
  write: string,
) => ({
  $set: {
    ...{ place, processed, total, version, write },
    ...(wakeAt !== undefined && { wakeAt }),
    ...(completedAt !== undefined && { completedAt }),
  },
  ...(completedAt !== undefined && { $unset: { wakeAt: "" as const, same: "" as const } }),
});
