/** Admits messages: gives a queue's free turns to the first in its line (docs/design/queues#turns). */
import {
  type FlowId,
  freeTurns,
  type InState,
  isIn,
  limits,
  mayClaimWithTurn,
  type MessageRecord,
  type Owner,
  type QueueId,
  takeTurn,
} from "@posthaste/domain";
import { type Admitted, type Hint } from "@posthaste/ports";
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

  const giveTurn = (queue: number, row: Row, now: number, owner: Owner | undefined): Given => {
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
      return { claimed: taken };
    }
    const { state } = taken;
    if (state.kind === "held") return { heldUntil: state.dueAt };
    if (state.kind === "due") return { hint: reading.hint(row) };
    lanes.wake(state.flow, now);
    return { flow: state.flow };
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

  return (id, owner) => {
    const standing = queues.find(id);
    return standing && look(standing, clock.now(), owner);
  };
}

type Given = {
  readonly claimed?: InState<"claimed">;
  readonly hint?: Hint;
  readonly heldUntil?: number;
  readonly flow?: FlowId;
};

function sorted(
  given: readonly Given[],
): Pick<Admitted, "hints" | "claimed" | "heldUntil" | "flows"> {
  const times = given.flatMap(({ heldUntil }) => heldUntil ?? []);
  const [first] = given;
  return {
    hints: given.flatMap(({ hint }) => hint ?? []),
    ...(first?.claimed && { claimed: first.claimed }),
    ...(times.length > 0 && { heldUntil: Math.min(...times) }),
    flows: [...new Set(given.flatMap(({ flow }) => flow ?? []))],
  };
}
