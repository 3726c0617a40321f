import { type Rung } from "@posthaste/ports";
import { type Due, ringDue } from "../alarms.ts";
import { type Connection } from "../connection.ts";
import { actionFrom, bulkActionsName, type StoredBulkAction } from "./stored.ts";

export async function ringBulkActions(
  connection: Pick<Connection, "again" | "collection">,
  ...due: Due
): Promise<readonly Rung[]> {
  const found = await ringDue<StoredBulkAction>(connection, bulkActionsName, due, {});
  return found.map((stored) => ({ kind: "bulkAction", action: actionFrom(stored) }));
}
