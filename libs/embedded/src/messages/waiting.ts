/** How many records wait in lanes: counted some rows in a turn, since nothing else runs meanwhile and a line may hold millions. */
import { type FlowId } from "@posthaste/domain";
import { type FlowLanes } from "@posthaste/ports";
import { integer } from "../database/rows.ts";
import { stateCodes } from "./records.ts";
import { type Rooms } from "./rooms.ts";

const rowsPerTurn = 5_000;

/** The next to be counted: of which lane, and behind which position. */
type Place = { readonly at: number; readonly behind: number };

export function openWaiting({ db, lanes, writer }: Rooms): FlowLanes["waiting"] {
  const count = db.prepare(`
    SELECT count(*) AS n, max(position) AS last FROM (
      SELECT position FROM messages WHERE lane = ? AND state = ${stateCodes.waiting} AND position > ?
      ORDER BY position LIMIT ?)`);

  /** Of one turn. Undefined: those were all. */
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
    // Each turn counts on from where the one before it has ended.
    while (place) {
      const from: Place = place;
      place = await writer.read(() => look(ids, from, counted));
    }
    return counted;
  };
}
