import { type Rung } from "@posthaste/ports";
import { type Connection } from "../connection.ts";
import { dueIn, moveAhead } from "../alarms.ts";
import { actionFrom, bulkActionsName, type StoredBulkAction } from "./stored.ts";

export async function ringBulkActions(
  connection: Pick<Connection, "again" | "collection">,
  shards: readonly number[],
  now: number,
  limit: number,
): Promise<readonly Rung[]> {
  const actions = connection.collection<StoredBulkAction>(bulkActionsName);
  const found = await connection.again(() =>
    actions.find(dueIn(shards, now)).sort({ wakeAt: 1 }).limit(limit).toArray(),
  );
  await moveAhead(connection, bulkActionsName, found, now);
  return found.map((stored) => ({ kind: "bulkAction", action: actionFrom(stored) }));
}
