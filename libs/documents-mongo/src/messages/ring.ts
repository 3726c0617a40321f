/** Ringing: due alarms are found, moved ahead where they still stand, and answered; ringing twice does no harm. */
import { type InState, isIn, type MessageRecord, ring, type Rung } from "@posthaste/domain";
import { type Rings } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { enter, ringLanes } from "./lanes.ts";
import { type Reading } from "./read.ts";
import { inOneReply, type Rooms } from "./rooms.ts";
import { hintFrom, recordFrom, type StoredRecord, stateWrite } from "./stored.ts";
import { writeAll } from "./writes.ts";

export type Ring = (shards: readonly number[], limit: number) => Promise<Rings>;

/** One ring reads at most so many bytes of bodies; what is left rings in the next. */
const bodyBytesPerRingMax = 64 * 1024 * 1024;

type Ringing = { readonly stored: StoredRecord; readonly rung: Rung };

export function createRing(rooms: Rooms, reading: Reading): Ring {
  return async (shards, limit) => {
    const now = rooms.clock.now();
    const due = await findDue(rooms, shards, now, limit);
    const ringing = affordable(
      due.map((stored) => ({ stored, rung: ring(recordFrom(stored, noBody), now) })),
    );
    await writeAll(
      rooms.again,
      rooms.messages,
      ringing.map((each) => moving(each, now)),
    );
    await enter(rooms, ringing.filter(getsIntoLine).map(entryOf));
    const whole = await reading.withBodies(
      ringing.filter(needsBody).map(({ stored }) => stored),
      recordFrom,
    );
    return {
      hints: ringing
        .filter(({ rung }) => rung.then === "hint")
        .map(({ stored }) => hintFrom(stored)),
      lanes: await ringLanes(rooms, shards, now, limit),
      expanding: whole.filter(isExpanding),
      followUps: whole.filter(({ outbox }) => outbox.length > 0),
    };
  };
}

const noBody = new Uint8Array();

const findDue = (
  { again, messages }: Rooms,
  shards: readonly number[],
  now: number,
  limit: number,
): Promise<readonly StoredRecord[]> =>
  again(() =>
    messages
      .find(
        { shard: { $in: [...shards] }, wakeAt: { $lte: now, $exists: true } },
        { ...inOneReply, projection: { body: 0 } },
      )
      .sort({ wakeAt: 1 })
      .limit(limit)
      .toArray(),
  );

function affordable(ringing: readonly Ringing[]): readonly Ringing[] {
  let bodyBytes = 0;
  const tooMuch = ringing.findIndex((each, n) => {
    bodyBytes += needsBody(each) ? each.stored.bodyBytes : 0;
    return n > 0 && bodyBytes > bodyBytesPerRingMax;
  });
  return tooMuch < 0 ? ringing : ringing.slice(0, tooMuch);
}

const needsBody = ({ rung }: Ringing): boolean => rung.followUp || rung.then === "expand";

/** Where somebody was faster, his write stands. */
function moving({ stored, rung }: Ringing, now: number): AnyBulkWriteOperation<StoredRecord> {
  const { _id, epoch, state, wakeAt = 0 } = stored;
  const update =
    state === "waiting" ? alarmWrite(rung.wakeAt) : stateWrite(rung.next, rung.wakeAt, now);
  return { updateOne: { filter: { _id, epoch, state, wakeAt }, update } };
}

/** Who stood in line when his own alarm rang has only his lane's from now on. */
const alarmWrite = (wakeAt: number | undefined) =>
  wakeAt === undefined ? { $unset: { wakeAt: "" as const } } : { $set: { wakeAt } };

/** Also one that stands in line already: its lane may have been put to rest before it got in (stored.ts). */
const getsIntoLine = ({ rung }: Ringing): boolean => rung.next.kind === "waiting";

const entryOf = ({ stored }: Ringing) => {
  const { message } = recordFrom(stored, noBody);
  return { message, waits: true, place: stored.place, setsLimits: false };
};

const isExpanding = (record: MessageRecord): record is InState<"expanding"> =>
  isIn(record, "expanding");
