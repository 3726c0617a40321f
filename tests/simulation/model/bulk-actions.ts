/** Bulk actions in memory. */
import { type BulkAction, bulkWorkText, isKnownFormat, isUnderWay } from "@posthaste/domain";
import { type BulkActionPlace, type BulkActions } from "@posthaste/ports";
import { armedRows, type ArmedRows, byAlarm } from "./armed-rows.ts";
import { within } from "./page.ts";

export type BulkActionModel = ArmedRows<BulkAction> & { readonly port: BulkActions };

export function modelBulkActions(now: () => number): BulkActionModel {
  const actions = new Map<string, BulkAction>();
  return {
    ...armedRows(
      now,
      () => [...actions.values()].toSorted(byAlarm),
      (each, wakeAt) => void actions.set(each.id, { ...each, wakeAt }),
    ),
    port: {
      add: async (action, underWayMax) => {
        const others = [...actions.values()].filter(
          (each) => each.tenant === action.tenant && isUnderWay(each),
        );
        const same = bulkWorkText(action.work);
        const known = others.find(({ work }) => bulkWorkText(work) === same);
        if (known) return known;
        if (others.length >= underWayMax) return "full";
        actions.set(action.id, action);
        return action;
      },
      move: async (action) => {
        if (actions.get(action.id)?.version !== action.version - 1) return false;
        actions.set(action.id, action);
        return true;
      },
      get: async (tenant, id) => {
        const found = actions.get(id);
        return found?.tenant === tenant && isKnownFormat(found) ? found : undefined;
      },
      list: async (tenant, { after, limit, bytesMax }) => {
        const behind = [...actions.values()]
          .filter((each) => each.tenant === tenant && isKnownFormat(each))
          .filter((each) => !after || isEarlier(each, after))
          .toSorted((a, b) => (isEarlier(a, b) ? 1 : -1));
        return within(behind.slice(0, limit), bytesMax);
      },
      removeEnded: async (endedBefore, limit) => {
        const ended = [...actions.values()]
          .filter(({ completedAt = Infinity }) => completedAt < endedBefore)
          .slice(0, limit);
        for (const { id } of ended) actions.delete(id);
      },
    },
  };
}

const isEarlier = (each: BulkActionPlace, after: BulkActionPlace): boolean =>
  each.createdAt === after.createdAt ? each.id < after.id : each.createdAt < after.createdAt;
