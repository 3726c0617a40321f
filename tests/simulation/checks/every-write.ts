/**
 * The invariants that hold after each write of a document. I3: some alarm rings for every unfinished item, so a
 * process may die between any two writes, and the others continue from there. C9: a message of a queue proceeds with
 * a turn that is stored already, and keeps it as long as it proceeds.
 */
import { type Change, type Server } from "../mongodb/server.ts";
import { isList, type Plain } from "../mongodb/values.ts";
import { type History } from "../world/history.ts";
import { isOver, standing } from "../documents/seen.ts";

const alarmsOfRecord = ["wakeAt", "followUpAt", "factAt"];

export function everyWrite(server: Server, history: History): (change: Change) => void {
  const sleeps = (what: string): void => history.violate("I3", `${what} and nothing will ring`);
  const ringsFor = (collection: string, id: unknown): boolean => {
    const line = server.documents(collection).get(id);
    return line !== undefined && (line["paused"] === true || "wakeAt" in line);
  };
  const checkRecord = (document: Plain): void => {
    const record = standing(document);
    if (!record || alarmsOfRecord.some((field) => field in document)) return;
    const { _id: id, outbox, state } = record;
    if (outbox.length > 0) return sleeps(`${id} has follow-ups to do`);
    if (isOver(record)) return;
    if (state === "waiting" && ringsFor("lanes", document["lane"])) return;
    if (state === "queued" && ringsFor("queues", document["queue"])) return;
    sleeps(`${id} is ${state}`);
  };
  /** A line without an alarm has no message that relies on it. */
  const checkLine = (field: "lane" | "queue", state: string, id: unknown): void => {
    const collection = `${field}s`;
    if (ringsFor(collection, id)) return;
    for (const record of server.documents("messages").meeting({ [field]: id, state }))
      checkRecord(record);
  };

  const byCollection: Readonly<Record<string, (document: Plain, id: unknown) => void>> = {
    messages: checkRecord,
    lanes: (_, id) => checkLine("lane", "waiting", id),
    queues: (_, id) => checkLine("queue", "queued", id),
    fan_outs: ({ _id, endedAt, template, wakeAt }) => {
      if (template !== undefined && endedAt === undefined && wakeAt === undefined)
        sleeps(`the fan-out ${String(_id)} is expanding`);
    },
    schedules: ({ _id, isPaused, next, pending, wakeAt }) => {
      const rings = pending !== undefined || (isPaused !== true && next !== undefined);
      if (rings && wakeAt === undefined) sleeps(`the schedule ${String(_id)} has a slot`);
    },
    bulk_actions: ({ _id, same, wakeAt }) => {
      if (same !== undefined && wakeAt === undefined)
        sleeps(`the bulk action ${String(_id)} is under way`);
    },
    runs: ({ _id, deliver, deliverAt }) => {
      if (isList(deliver) && deliver.length > 0 && deliverAt === undefined)
        sleeps(`the run ${String(_id)} has messages to make`);
    },
  };
  const checkTurn = (before: Plain | undefined, after: Plain | undefined): void => {
    if (before?.["state"] !== "queued" || !after || after["state"] === "queued") return;
    const record = standing(after);
    const turns = server.documents("queues").get(after["queue"])?.["turns"];
    if (record && !isOver(record) && !(isList(turns) && turns.includes(record._id)))
      history.violate("C9", `${record._id} is ${record.state} and has no turn`);
  };
  /** A deletion keeps the turns that it has ended, until it has cancelled their messages. */
  const checkTurnsLeft = (before: Plain | undefined, after: Plain | undefined): void => {
    const kept = [...listOf(after?.["turns"]), ...listOf(after?.["endedTurns"])];
    for (const id of listOf(before?.["turns"])) {
      if (kept.includes(id)) continue;
      const record = standing(server.documents("messages").get(id));
      if (record && record.state !== "queued" && !isOver(record))
        history.violate("C9", `${record._id} is ${record.state} and its turn is taken`);
    }
  };
  return ({ collection, before, after, id }) => {
    if (collection === "messages") checkTurn(before, after);
    if (collection === "queues") checkTurnsLeft(before, after);
    const document = after ?? (collection === "lanes" || collection === "queues" ? before : after);
    if (document) byCollection[collection]?.(document, id);
  };
}

const listOf = (value: unknown): readonly unknown[] => (isList(value) ? value : []);
