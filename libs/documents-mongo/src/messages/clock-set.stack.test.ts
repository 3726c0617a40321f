/** A store whose clock is set while in use: an hour ahead, or back by the two days that it was ahead. */
import { describe, expect, it } from "@jest/globals";
import { acceptClaimed, allShards, limits, settleAttempt } from "@posthaste/domain";
import { aMessage, anAnswer, anAttempt, anOwner, anotherOwner } from "@posthaste/testing";
import { beatId, beatsName, type StoredBeat } from "../link/beats.ts";
import { createIds } from "../ids.ts";
import { messageLogIndexes } from "../message-log/message-log.ts";
import { freshDatabase } from "../opened.fixture.ts";
import { servers } from "../servers.fixture.ts";
import { createRecordPorts, recordIndexes } from "./record-ports.ts";

const days = 2 * 86_400_000;
const hour = 3_600_000;
const onceMore = { chance: 0, retryDelayMs: 1_000 };

describe.each(servers)("$name", ({ uri }) => {
  const open = freshDatabase(uri, [...recordIndexes, ...messageLogIndexes]);

  async function openClaimed(aheadMs: number) {
    const { connection, clock } = await open();
    clock.set(aheadMs);
    const { alarms, records } = createRecordPorts(connection, connection);
    await alarms.ring(allShards, 10);
    const message = aMessage({ id: createIds(connection).next(), now: clock.now() });
    const record = acceptClaimed(message, anOwner, clock.now());
    await records.insert([{ record }], "new");
    return { alarms, clock, connection, record, records };
  }

  it("a claim from before the clock was set back stays its owner's, or is taken over when the owner has died", async () => {
    const { alarms, clock, record, records } = await openClaimed(days);
    const { epoch, message } = record;
    clock.set(-days);
    await alarms.ring(allShards, 10);

    expect(await records.renew([{ id: message.id, epoch }])).toEqual([]);
    expect(await records.claim([message.id], anotherOwner)).toEqual([]);
    await clock.advance(limits.leaseMs);
    expect((await alarms.ring(allShards, 10)).rung).toHaveLength(1);
    expect(await records.claim([message.id], anotherOwner)).toHaveLength(1);
  });

  it("a retry that waited when the clock was set back comes as much sooner", async () => {
    const { alarms, clock, record, records } = await openClaimed(days);
    const failed = anAttempt(anAnswer(500), { endedAt: clock.now() });
    await records.settle([settleAttempt(record, failed, onceMore)]);
    clock.set(-days);
    await alarms.ring(allShards, 10);
    await clock.advance(2 * limits.ringAheadMs);

    const { rung } = await alarms.ring(allShards, 10);

    expect(rung.some(({ kind }) => kind === "hint")).toBe(true);
  });

  it("a retry that waited while nothing ran, and the clock was set back, comes no later than it was to wait", async () => {
    const { clock, connection, record, records } = await openClaimed(days);
    const failed = anAttempt(anAnswer(500), { endedAt: clock.now() });
    await records.settle([settleAttempt(record, failed, onceMore)]);
    clock.set(-days);
    const latest = new Date(clock.now() + days);
    await connection
      .collection<StoredBeat>(beatsName)
      .updateOne({ _id: beatId }, { $set: { latest, count: 1 } }, { upsert: true });
    const { alarms } = createRecordPorts(connection, connection);
    await alarms.ring(allShards, 10);
    await clock.advance(2 * limits.ringAheadMs);

    const { rung } = await alarms.ring(allShards, 10);

    expect(rung.some(({ kind }) => kind === "hint")).toBe(true);
  });

  it("a claim of before the clock was set ahead is no other process's until its owner may have renewed it", async () => {
    const { alarms, clock, record, records } = await openClaimed(0);
    const { epoch, message } = record;
    clock.set(hour);

    expect((await alarms.ring(allShards, 10)).rung).toEqual([]);
    expect(await records.claim([message.id], anotherOwner)).toEqual([]);
    expect(await records.renew([{ id: message.id, epoch }])).toEqual([]);
  });
});
