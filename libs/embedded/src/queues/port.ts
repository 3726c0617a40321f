/** Assembles the Queues port: which call writes, and which reads. */
import {
  mayTakeBack,
  type MessageId,
  queueId,
  takenBackEpoch,
  type TenantId,
} from "@posthaste/domain";
import {
  type Canceled,
  type Changed,
  type QueueChange,
  type Queues,
  type TakenBack,
} from "@posthaste/ports";
import { integer } from "../database/rows.ts";
import { openCancel } from "../messages/cancel.ts";
import { openReading } from "../messages/read.ts";
import { stateCodes } from "../messages/records.ts";
import { type Store } from "../messages/store.ts";
import { openAdmit } from "./admit.ts";
import { type KeyedQueue } from "./rows.ts";

export function openQueues(store: Store): Queues {
  const { db, clock, names, queues, recent, turns, writer } = store;
  const reading = openReading(store);
  const { cancel } = openCancel(store, reading);
  const admit = openAdmit(store, reading);
  const queueAgain = db.prepare(`
    UPDATE messages SET state = ${stateCodes.queued}, until = NULL, hints = 0, wake_at = NULL, epoch = ?
    WHERE position = ?`);
  const endCall = db.prepare(`
    UPDATE messages SET runs_until = NULL WHERE position = ? AND name = ? AND runs_until IS NOT NULL RETURNING queue`);

  const { living, make, missing } = openMaking(store);

  /** Takes back the turns of messages that were not attempted yet. */
  const takeBack = ({ key }: KeyedQueue): readonly TakenBack[] =>
    turns.holders(key).flatMap((position) => {
      const record = reading.at(position)?.record;
      if (!record || !mayTakeBack(record)) return [];
      queueAgain.run(takenBackEpoch(record), position);
      turns.take(key, position);
      writer.onCommit(() => recent.drop(position));
      const { id, flow } = record.message;
      return flow === undefined ? [] : [{ id, flow }];
    });

  const change = ({ tenant, name, ...settings }: QueueChange, max: number): Changed => {
    make(tenant, [name], max);
    const standing = living(tenant, name);
    if (!standing) return "full";
    const { parallelism, paused } = { ...standing.lane, ...settings };
    queues.change(standing.key, parallelism, paused, clock.now());
    return { takenBack: paused ? takeBack(standing) : [] };
  };

  const resume = (tenant: TenantId, name: string): void => {
    const standing = living(tenant, name);
    if (standing?.lane.paused)
      queues.change(standing.key, standing.lane.parallelism, false, clock.now());
  };

  const end = (tenant: TenantId, name: string): readonly Canceled[] => {
    const standing = living(tenant, name);
    if (!standing) return [];
    const holders = turns
      .holders(standing.key)
      .flatMap((position) => reading.at(position)?.record.message.id ?? []);
    const canceled = holders.map((id) => cancel(tenant, id));
    turns.takeAll(standing.key);
    queues.end(standing.key, clock.now());
    return canceled;
  };

  const callEnded = (id: MessageId): void => {
    const address = names.find(id);
    const row = address && endCall.get(address.position, address.name);
    if (row) turns.mayBeOver(integer(row["queue"]), address.position, clock.now());
  };

  return {
    make: async (tenant, names, max) => {
      const wanted = await writer.glance(() => missing(tenant, names));
      return wanted.length > 0 ? writer.write(() => make(tenant, wanted, max), "accepted") : [];
    },
    put: (given, max) => writer.write(() => change(given, max), "accepted"),
    resume: (tenant, name) => writer.write(() => resume(tenant, name), "accepted"),
    get: (tenant, name) => writer.read(() => queues.get(tenant, name)),
    list: (tenant, { after, limit }) => writer.read(() => queues.list(tenant, after, limit)),
    end: (tenant, name) => writer.write(() => end(tenant, name), "accepted"),
    admit: async (ids, ending) => {
      await ending?.written;
      return writer.write(() => ids.flatMap((id) => admit(id, ending?.owner) ?? []), "redoable");
    },
    callsEnded: (_, ids) => writer.write(() => ids.forEach(callEnded), "redoable"),
    oldestTurn: () => writer.read(() => turns.oldest()),
  };
}

function openMaking({ clock, queues }: Store) {
  const living = (tenant: TenantId, name: string): KeyedQueue | undefined => {
    const standing = queues.find(queueId(tenant, name));
    return standing?.lane.endedAt === undefined ? standing : undefined;
  };
  const missing = (tenant: TenantId, names: readonly string[]): readonly string[] =>
    names.filter((name) => living(tenant, name) === undefined);
  return {
    living,
    missing,
    /** Makes all missing queues, or none. Returns the names beyond the bound. For use inside a write. */
    make: (tenant: TenantId, names: readonly string[], max: number): readonly string[] => {
      const wanted = missing(tenant, names);
      const tooMany = wanted.slice(Math.max(0, max - queues.count(tenant)));
      if (tooMany.length === 0) for (const name of wanted) queues.make(tenant, name, clock.now());
      return tooMany;
    },
  };
}
