/** The MessageStore port, assembled: which call writes, which reads, and in what portions. */
import { type MessageStore } from "@posthaste/ports";
import { openCancel } from "./cancel.ts";
import { openClaiming } from "./claim.ts";
import { openExpanded } from "./expanded.ts";
import { openInsert } from "./insert.ts";
import { openLine } from "./line.ts";
import { openNextAlarm } from "./next-alarm.ts";
import { openPull } from "./pull.ts";
import { openReading, ofTenant } from "./read.ts";
import { openRemoving } from "./remove.ts";
import { openRing } from "./ring.ts";
import { type Rooms } from "./rooms.ts";
import { openSettling } from "./settle.ts";

/** So many finished records go per transaction: nothing else runs meanwhile. */
const removedPerCommitMax = 250;

export function openMessageStore(rooms: Rooms): MessageStore {
  const { writer, lanes, tenants, backlog } = rooms;
  const reading = openReading(rooms);
  const insertOne = openInsert(rooms);
  const claiming = openClaiming(rooms, reading);
  const settling = openSettling(rooms);
  const cancelOne = openCancel(rooms, reading);
  const ring = openRing(rooms, reading);
  const nextAlarm = openNextAlarm(rooms);
  const line = openLine(rooms, reading);
  const removing = openRemoving(rooms);
  const pull = openPull(rooms, reading);
  const expanded = openExpanded(rooms);

  return {
    insert: (inserts) => writer.write(() => inserts.map(insertOne), "accepting"),
    claim: (ids, owner) => writer.write(() => claiming.claim(ids, owner), "redoable"),
    pull: (tenant, limit, exceptOrigins) => writer.glance(() => pull(tenant, limit, exceptOrigins)),
    renew: (claims) => writer.write(() => claiming.renew(claims)),
    settle: (settlements) => writer.write(() => settlements.map(settling.settle)),
    clear: (items) => writer.write(() => items.forEach(settling.clear), "redoable"),
    cancel: (tenant, ids) => writer.write(() => ids.map((id) => cancelOne(tenant, id))),
    get: (tenant, ids) =>
      writer.read(() => ids.map((id) => ofTenant(tenant, reading.find(id))?.record)),
    expanded: (parent, from, upTo, done) => writer.write(() => expanded(parent, from, upTo, done)),
    ring: (shards, limit) => writer.write(() => ring(shards, limit), "redoable"),
    nextAlarm: (shards) => writer.glance(() => nextAlarm(shards)),
    removeFinished: async (shards, endedBefore, limit) => {
      let removed = 0;
      let more = true;
      // Ends with the finished records, or at `limit`.
      while (more && removed < limit) {
        const portion = Math.min(limit - removed, removedPerCommitMax);
        const done = await writer.write(() =>
          removing.removeFinished(shards, endedBefore, portion),
        );
        removed += done.removed;
        more = done.more;
      }
      await writer.write(() => removing.sweep(limit));
      return removed;
    },
    lanes: (ids) => writer.glance(() => lanes.rows(ids)),
    heads: (lane, n) => writer.glance(() => line.heads(lane, n)),
    promote: (lane, ids, grantUntil, window) =>
      writer.write(() => {
        if (window) lanes.keepWindow(lane, window);
        return line.promote(lane, ids, grantUntil);
      }, "redoable"),
    rest: (lane, seq, wakeAt, window) =>
      writer.write(() => lanes.rest(lane, seq, wakeAt, window), "redoable"),
    slotHolders: (lane) => writer.glance(() => line.slotHolders(lane)),
    backlog: async (tenant) => {
      const key = tenants.find(tenant);
      return key === undefined ? 0 : backlog.of(key);
    },
  };
}
