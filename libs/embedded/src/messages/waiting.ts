/** Counts the records that wait in lanes, some rows per turn: nothing else runs during a turn, and a line may hold millions. */
import { type FlowId } from "@posthaste/domain";
import { type FlowLanes } from "@posthaste/ports";
import { integer } from "../database/rows.ts";
import { stateCodes } from "./records.ts";
import { type Store } from "./store.ts";

const rowsPerTurn = 5_000;

/** Where counting continues: the index of the lane, and the position after which. */
type Place = { readonly at: number; readonly behind: number };

export function openWaiting({ db, lanes, writer }: Store): FlowLanes["waiting"] {
  const count = db.prepare(`
    SELECT count(*) AS n, max(position) AS last FROM (
      SELECT position FROM messages WHERE lane = ? AND state = ${stateCodes.waiting} AND position > ?
      ORDER BY position LIMIT ?)`);

  /** Counts the rows of one turn. Returns undefined when all lanes are counted. */
  const look = (
    ids: readonly FlowId[],
    { at, behind }: Place,
    counted: Map<FlowId, number>,
  ): Place | undefined => {
    let rowsLeft = rowsPerTurn;
    for (const [n, id] of ids.entries()) {
      const key = n < at ? undefined : lanes.key(id);
      const row = key === undefined ? undefined : count.get(key, n === at ? behind : 0, rowsLeft);
      if (!row) continue;
      const found = integer(row["n"]);
      if (found > 0) counted.set(id, (counted.get(id) ?? 0) + found);
      rowsLeft -= found;
      if (rowsLeft === 0) return { at: n, behind: integer(row["last"]) };
    }
    return undefined;
  };

  return async (ids) => {
    const counted = new Map<FlowId, number>();
    let place: Place | undefined = { at: 0, behind: 0 };
    // Each turn continues where the last one ended.
    while (place) {
      const from: Place = place;
      place = await writer.read(() => look(ids, from, counted));
    }
    return counted;
  };
}
