/**
 * Releases held messages: sets the alarm of each to now, so that it rings as at its due time. A record that has
 * changed by the time of the write is read again: it may no longer wait, or wait for another time.
 */
import { release, sourceOf } from "@posthaste/domain";
import { type Records } from "@posthaste/ports";
import { type Store } from "./store.ts";
import { isKnownFormat, recordFrom, stateWrite, withoutBodies } from "./stored.ts";

/** A record changes a few times a second at most. */
const triesMax = 20;
export function createRelease({ again, clock, messages, token }: Store): Records["release"] {
  return async (tenant, id) => {
    for (let tries = 0; tries < triesMax; tries++) {
      const one = { _id: id, tenant, ...isKnownFormat };
      const stored = await again(() => messages.findOne(one, { projection: withoutBodies }));
      if (!stored) return { kind: "unknown" };
      const record = recordFrom(stored);
      const now = clock.now();
      const released = release(record, now);
      if (released.kind !== "released") return { kind: released.kind };
      const { epoch, outbox, retried, state } = record;
      const { next, wakeAt } = released;
      const { $set, $unset } = stateWrite(next, wakeAt, now, sourceOf(next, outbox));
      const changedBy = token();
      const asRead = { _id: id, epoch, retried, state: state.kind };
      const update = { $set: { ...$set, changedBy }, $unset };
      const { matchedCount } = await again(() => messages.updateOne(asRead, update));
      const done = { kind: "released", shard: record.message.shard } as const;
      if (matchedCount > 0) return done;
      // If the reply to a write that held was lost, its repetition matched nothing.
      if (await again(() => messages.findOne({ _id: id, changedBy }))) return done;
    }
    throw new Error(`${id} changes too fast to be released`);
  };
}
