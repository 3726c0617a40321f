/** Admits messages: gives a queue's free turns to the first in its line (docs/design/queues#turns). */
import { type FlowId, freeTurns, isIn, limits, type QueueId, takeTurn } from "@posthaste/domain";
import { type Admitted, type Hint } from "@posthaste/ports";
import { integer, type Row } from "../database/rows.ts";
import { configurationFrom, withBody } from "../messages/configurations.ts";
import { idOf } from "../messages/names.ts";
import { type Reading } from "../messages/read.ts";
import {
  bodilessColumns,
  bodilessTables,
  columnsOf,
  firstFinishedCode,
  recordFrom,
  stateCodes,
} from "../messages/records.ts";
import { type Rooms } from "../messages/rooms.ts";
import { type Standing } from "./rows.ts";

/** Listed one by one, since the index of a queue has the places of each state: a range of states would be read from end to end. */
const liveCodes = Object.values(stateCodes).filter((code) => code < firstFinishedCode);

export function openAdmit(rooms: Rooms, reading: Reading): (id: QueueId) => Admitted | undefined {
  const { db, clock, fanOuts, lanes, queues, turns } = rooms;
  const heads = db.prepare(`
    SELECT ${bodilessColumns}, m.origin, m.body_bytes FROM ${bodilessTables}
    WHERE m.queue = ? AND m.state = ${stateCodes.queued} AND m.place > ? AND m.place < ? ORDER BY m.place LIMIT ?`);
  const purged = db.prepare(`
    SELECT position, name FROM messages WHERE queue = ? AND state IN (${liveCodes.join()}) AND place <= ? LIMIT ?`);
  const move = db.prepare(
    "UPDATE messages SET state = ?, until = ?, hints = ?, wake_at = ? WHERE position = ?",
  );

  const giveTurn = (queue: number, row: Row, now: number): Given => {
    const record = recordFrom(row, withBody(configurationFrom(row), row), []);
    if (!isIn(record, "queued")) throw new Error("unreachable: the line holds what is queued");
    const { next, wakeAt } = takeTurn(record, now);
    const { code, until, hints } = columnsOf(next);
    const position = integer(row["position"]);
    move.run(code, until, hints, wakeAt ?? null, position);
    turns.give(queue, position, now);
    if (next.kind === "held") return { heldUntil: next.dueAt };
    if (next.kind === "due") return { hint: reading.hint(row) };
    lanes.wake(next.flow, now);
    return { flow: next.flow };
  };

  const look = ({ key, lane }: Standing, now: number): Admitted => {
    const mark = lane.purgeUpTo ?? 0;
    const ended = lane.purgeUpTo === undefined ? [] : purged.all(key, mark, limits.admitBatchMax);
    const held = turns.repair(key, now);
    const free = freeTurns(lane, held);
    const wanted = Math.min(free, limits.admitBatchMax);
    const unmade = fanOuts.firstUnmade(key, mark);
    const end = unmade ?? Number.MAX_SAFE_INTEGER;
    const first = wanted > 0 ? heads.all(key, mark, end, wanted) : [];
    const given = first.map((row) => giveTurn(key, row, now));
    const waits = held + given.length > 0 || ended.length > 0 || unmade !== undefined;
    queues.rest(key, waits ? now + limits.ringAheadMs : undefined);
    return {
      queue: lane.id,
      tenant: lane.tenant,
      given: given.length,
      ...sorted(given),
      ended: ended.map((row) =>
        idOf({ position: integer(row["position"]), name: String(row["name"]) }),
      ),
      more: given.length === limits.admitBatchMax && free > limits.admitBatchMax,
    };
  };

  return (id) => {
    const standing = queues.find(id);
    return standing && look(standing, clock.now());
  };
}

type Given = { readonly hint?: Hint; readonly heldUntil?: number; readonly flow?: FlowId };

function sorted(given: readonly Given[]): Pick<Admitted, "hints" | "heldUntil" | "flows"> {
  const times = given.flatMap(({ heldUntil }) => heldUntil ?? []);
  return {
    hints: given.flatMap(({ hint }) => hint ?? []),
    ...(times.length > 0 && { heldUntil: Math.min(...times) }),
    flows: [...new Set(given.flatMap(({ flow }) => flow ?? []))],
  };
}
