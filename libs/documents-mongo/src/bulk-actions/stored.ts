/** The documents of the collection `bulk_actions`: one for each bulk action, keyed by tenant and id. */
import { hash } from "node:crypto";
import { type BulkAction, type BulkActionId, bulkWorkText, type TenantId } from "@posthaste/domain";
import { byTime, type Index } from "../indexes.ts";
import { type Rung } from "@posthaste/ports";
import { type Connection } from "../connection.ts";
import { type Due, ringDue } from "../alarms.ts";

export const bulkActionsName = "bulk_actions";

export const bulkActionIndexes: readonly Index[] = [
  byTime(bulkActionsName, "wakeAt"),
  { collection: bulkActionsName, key: { tenant: 1, createdAt: -1, id: -1 }, is: "needed" },
  { collection: bulkActionsName, key: { tenant: 1, same: 1 }, having: "same", is: "needed" },
  { collection: bulkActionsName, key: { completedAt: 1 }, having: "completedAt", is: "needed" },
];

/**
 * `same`: the hash of the action's work, while it is under way. `write` names the write that made this version: a try
 * whose reply was lost recognizes its own write by this name (docs/design/record#writes-whose-answer-was-lost).
 */
export type StoredBulkAction = BulkAction & {
  readonly _id: string;
  readonly same?: string;
  readonly write: string;
};

export const keyOf = (tenant: TenantId, id: BulkActionId): string => `${tenant}/${id}`;

export const sameOf = ({ work }: Pick<BulkAction, "work">): string =>
  hash("sha256", bulkWorkText(work));

export function actionFrom(stored: StoredBulkAction): BulkAction {
  const { _id, same, write, ...action } = stored;
  return action;
}

export async function ringBulkActions(
  connection: Pick<Connection, "again" | "collection">,
  ...due: Due
): Promise<readonly Rung[]> {
  const found = await ringDue<StoredBulkAction>(connection, bulkActionsName, due, {});
  return found.map((stored) => ({ kind: "bulkAction", action: actionFrom(stored) }));
}
