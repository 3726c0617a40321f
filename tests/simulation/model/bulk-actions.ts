/** Bulk actions in memory. */
import {
  allShards,
  type BulkAction,
  bulkWorkText,
  isKnownFormat,
  isUnderWay,
  limits,
} from "@posthaste/domain";
import { type BulkActionPlace, type BulkActions } from "@posthaste/ports";
import { within } from "./page.ts";

export type BulkActionModel = {
  readonly port: BulkActions;
  /** Moves the alarm of each due action ahead. */
  readonly ring: (shards: readonly number[], limit: number) => readonly BulkAction[];
  readonly next: (shards: readonly number[]) => number | undefined;
  /** Lets the actions under way ring now. */
  readonly reopen: () => void;
};

export function modelBulkActions(now: () => number): BulkActionModel {
  const actions = new Map<string, BulkAction>();
  const armedIn = (shards: readonly number[]): readonly BulkAction[] =>
    [...actions.values()]
      .filter(
        (each) => each.wakeAt !== undefined && shards.includes(each.shard) && isKnownFormat(each),
      )
      .toSorted((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0));

  return {
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
    ring: (shards, limit) => {
      const due = armedIn(shards).filter(({ wakeAt = Infinity }) => wakeAt <= now());
      const rung = due.slice(0, limit);
      for (const each of rung)
        actions.set(each.id, { ...each, wakeAt: now() + limits.ringAheadMs });
      return rung;
    },
    next: (shards) => armedIn(shards)[0]?.wakeAt,
    reopen: () => {
      for (const each of armedIn(allShards))
        actions.set(each.id, { ...each, wakeAt: Math.min(each.wakeAt ?? Infinity, now()) });
    },
  };
}

const isEarlier = (each: BulkActionPlace, after: BulkActionPlace): boolean =>
  each.createdAt === after.createdAt ? each.id < after.id : each.createdAt < after.createdAt;
