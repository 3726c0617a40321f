/** Admits messages: gives a queue's free turns to the first in its line (docs/design/queues#turns). */
import {
  freeTurns,
  isIn,
  limits,
  mayClaimWithTurn,
  type MessageRecord,
  type Owner,
  type QueueId,
  takeTurn,
  waitsOf,
} from "@posthaste/domain";
import { type Admitted } from "@posthaste/ports";
import { integer, type Row } from "../database/rows.ts";
import { configurationFrom, withBody } from "../messages/configurations.ts";
import { idOf } from "../messages/positions.ts";
import { type Reading } from "../messages/read.ts";
import {
  bodilessColumns,
  bodilessTables,
  columnsOf,
  firstFinishedCode,
  recordFrom,
  stateCodes,
} from "../messages/records.ts";
import { type Store } from "../messages/store.ts";
import { type KeyedQueue } from "./rows.ts";

/** Listed one by one: by the index of a queue, a range of states would be read from end to end. */
const liveCodes = Object.values(stateCodes).filter((code) => code < firstFinishedCode);

export type Admit = (id: QueueId, owner?: Owner) => Admitted | undefined;

export function openAdmit(store: Store, reading: Reading): Admit {
  const { claimed, db, clock, fanOuts, lanes, queues, recent, turns, writer } = store;
  const heads = db.prepare(`
    SELECT ${bodilessColumns}, m.origin, m.body_bytes FROM ${bodilessTables}
    WHERE m.queue = ? AND m.state = ${stateCodes.queued} AND m.place > ? AND m.place < ? ORDER BY m.place LIMIT ?`);
  const purged = db.prepare(`
    SELECT position, name FROM messages WHERE queue = ? AND state IN (${liveCodes.join()}) AND place <= ? LIMIT ?`);
  const move = db.prepare(
    "UPDATE messages SET state = ?, until = ?, hints = ?, owner = ?, wake_at = ?, epoch = ? WHERE position = ?",
  );

  /** Reads the message with its body, if it may be claimed with its turn. */
  const wholeOf = (row: Row): MessageRecord | undefined => {
    const { bytes = 0, id } = reading.hint(row);
    return mayClaimWithTurn(bytes) ? reading.sound(id)?.record : undefined;
  };

  const giveTurn = (queue: number, row: Row, now: number, owner: Owner | undefined) => {
    const position = integer(row["position"]);
    const whole = owner && wholeOf(row);
    const record = whole ?? recordFrom(row, withBody(configurationFrom(row), row), []);
    if (!isIn(record, "queued")) throw new Error("unreachable: the line holds what is queued");
    const taken = takeTurn(record, now, whole && owner);
    const { wakeAt, epoch } = taken;
    const columns = columnsOf(taken.state);
    const { code, until, hints } = columns;
    move.run(code, until, hints, columns.owner, wakeAt ?? null, epoch, position);
    turns.give(queue, position, now);
    if (isIn(taken, "claimed")) {
      claimed.add(position);
      writer.onCommit(() => recent.drop(position));
    }
    if (taken.state.kind === "waiting") lanes.wake(taken.state.flow, now);
    return taken;
  };

  const look = ({ key, lane }: KeyedQueue, now: number, owner: Owner | undefined): Admitted => {
    const mark = lane.purgeUpTo ?? 0;
    const ended = lane.purgeUpTo === undefined ? [] : purged.all(key, mark, limits.admitBatchMax);
    const held = turns.repair(key, now);
    const free = freeTurns(lane, held);
    const wanted = Math.min(free, limits.admitBatchMax);
    const unmade = fanOuts.firstUnmade(key, mark);
    const end = unmade ?? Number.MAX_SAFE_INTEGER;
    const first = wanted > 0 ? heads.all(key, mark, end, wanted) : [];
    const given = first.map((row, n) => giveTurn(key, row, now, n === 0 ? owner : undefined));
    const [taken] = given;
    const waits = held + given.length > 0 || ended.length > 0 || unmade !== undefined;
    queues.rest(key, waits ? now + limits.ringAheadMs : undefined);
    return {
      queue: lane.id,
      tenant: lane.tenant,
      given: given.length,
      hints: first.flatMap((row, n) => (given[n]?.state.kind === "due" ? reading.hint(row) : [])),
      ...(taken && isIn(taken, "claimed") && { claimed: taken }),
      ...waitsOf(given.map(({ state }) => state)),
      ended: ended.map((row) =>
        idOf({ position: integer(row["position"]), name: String(row["name"]) }),
      ),
      more: given.length === limits.admitBatchMax && free > limits.admitBatchMax,
    };
  };

  return (id, owner) => {
    const standing = queues.find(id);
    return standing && look(standing, clock.now(), owner);
  };
}
