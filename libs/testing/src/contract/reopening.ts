/**
 * The contract of a message store that one process has alone: the state that a successor finds after that process was
 * killed. Claims and hints of the dead process hold nothing up.
 */
import { expect } from "@jest/globals";
import { acceptClaimed, allShards, isFinished, limits } from "@posthaste/domain";
import { aCallbackPlan, anotherOwner, anOwner, aPolicy, aTenant } from "../builders/message.ts";
import { contract } from "./guarantee.ts";
import { alarmsAfterReopening, type ReopeningHarness } from "./reopening-alarms.ts";
import {
  claimOne,
  inLine,
  insert,
  insertClaimed,
  insertDelivered,
  newMessage,
  oneAtATime,
  read,
  readIn,
  refused,
  ringAll,
  settle,
  stateOf,
  tightLane,
} from "./records/harness.ts";

export function describeReopening(name: string, open: () => Promise<ReopeningHarness>): void {
  contract(`${name}: a message store opened again`, open, {}, (it) => {
    it("a claim counts a lost lease, rings at once, and is fenced", async (before) => {
      const message = newMessage(before);
      const claimed = acceptClaimed(message, anOwner, before.now());
      await before.records.insert([{ record: claimed }], "new");

      const after = await before.reopen();
      const { hints } = await ringAll(after);
      const again = await claimOne(after, message.id, anotherOwner);

      expect(hints.map(({ id }) => id)).toEqual([message.id]);
      expect(again).toMatchObject({
        epoch: claimed.epoch + 1,
        leaseLosses: limits.leaseLossParts,
      });
      expect(await settle(after, claimed, refused)).toEqual({ kind: "fenced" });
    });

    it("a renewed claim counts a part of a lost lease", async (before) => {
      const [long, begun] = [await insertClaimed(before), await insertClaimed(before)];
      const refs = [long, begun].map(({ epoch, message: { id } }) => ({ epoch, id }));
      await before.records.renew(refs);
      await before.records.renew(refs.slice(1).map((ref) => ({ ...ref, begins: true })));

      const after = await before.reopen();
      const losses = await Promise.all(
        [long, begun].map(async ({ message }) => (await read(after, message)).leaseLosses),
      );

      expect(losses).toEqual([1, limits.leaseLossParts]);
    });

    it("a claimed message of a lane has its place in line again, and the lane's alarm is now", async (before) => {
      const { message } = await insertClaimed(before, { flow: oneAtATime });
      const [lane] = await before.flowLanes.rows([tightLane]);
      const window = { startedAt: before.now(), count: 1 };
      await before.flowLanes.rest(tightLane, lane?.seq ?? -1, before.now() + 600_000, window);

      const after = await before.reopen();

      expect(await readIn(after, message, "waiting")).toMatchObject({
        leaseLosses: limits.leaseLossParts,
      });
      expect(await inLine(after)).toEqual([message.id]);
      expect(await after.flowLanes.rows([tightLane])).toMatchObject([
        { wakeAt: after.now(), window },
      ]);
    });

    it("a lane that rests until later rings now", async (before) => {
      await insert(before, { flow: oneAtATime });
      const [lane] = await before.flowLanes.rows([tightLane]);
      await before.flowLanes.rest(tightLane, lane?.seq ?? -1, before.now() + 600_000, undefined);

      const after = await before.reopen();

      expect((await ringAll(after)).lanes).toEqual([tightLane]);
    });

    it("a due message rings at once, and a held one at its time", async (before) => {
      const due = await insert(before);
      const held = await insert(before, { delayMs: 3_600_000 });
      await before.advance(1_000);

      const after = await before.reopen();

      expect((await ringAll(after)).hints.map(({ id }) => id)).toEqual([due.id]);
      expect(await stateOf(after, held)).toBe("held");
      expect((await read(after, held)).wakeAt).toBe(held.notBefore);
    });

    it("a grant lasts for its given time", async (before) => {
      const message = await insert(before, { flow: oneAtATime });
      const grantUntil = before.now() + limits.grantMs;
      await before.flowLanes.promote(tightLane, [message.id], grantUntil);

      const after = await before.reopen();

      expect(await readIn(after, message, "due")).toMatchObject({ state: { grantUntil } });
      expect(await claimOne(after, message.id)).toMatchObject({ leaseLosses: 0 });
    });

    it("unsafe follow-ups of an attempt ring at once", async (before) => {
      const policy = aPolicy({ callback: aCallbackPlan(), retriesMax: 3 });
      const record = await insertClaimed(before, { policy });
      await settle(before, record, refused);

      const after = await before.reopen();
      const { outboxes } = await ringAll(after);

      expect(outboxes).toEqual([record.message.id]);
      expect(await stateOf(after, record.message)).toBe("held");
    });

    alarmsAfterReopening(it);

    it("an ended message stays ended, and is removed at its time", async (before) => {
      const done = await insertDelivered(before);
      const live = await insert(before);

      const after = await before.reopen();

      expect(isFinished((await read(after, done)).state)).toBe(true);
      expect(await after.records.backlog(aTenant)).toBe(1);
      expect(await after.records.removeFinished(allShards, after.now() + 1, 10)).toBe(1);
      expect(await after.records.get(aTenant, [done.id, live.id])).toMatchObject([
        undefined,
        { message: live },
      ]);
    });
  });
}
