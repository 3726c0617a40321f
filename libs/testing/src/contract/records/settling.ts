import { expect } from "@jest/globals";
import { giveBack, limits, type Outcome } from "@posthaste/domain";
import { aCallbackPlan, anotherOwner, aPolicy } from "../../builders/message.ts";
import { anAnswer, aTimeout, ourFailure } from "../../builders/outcome.ts";
import {
  claimOne,
  clearAll,
  delivered,
  expectAlarm,
  inLine,
  insert,
  insertClaimed,
  oneAtATime,
  read,
  refused,
  settle,
  settlementOf,
  type StoreGuarantee,
  stateOf,
  tightLane,
} from "./harness.ts";

export function settling(it: StoreGuarantee): void {
  const outcomes: readonly (readonly [string, Outcome])[] = [
    ["a success", delivered],
    ["a failure with retries left", refused],
    ["a timeout", aTimeout],
    ["a failure for good", anAnswer(489, { headers: [["Service-NonRetryable-Error", "true"]] })],
    ["a failure of ours", ourFailure],
    ["an abort", { kind: "aborted" }],
  ];
  for (const [what, outcome] of outcomes) {
    it(`a settle writes the decision of the domain: ${what}`, async (harness) => {
      const record = await insertClaimed(harness, { body: new TextEncoder().encode("kept") });
      const decided = settlementOf(harness, record, outcome);
      const from = harness.now();

      const answers = await harness.records.settle([decided]);

      const settled = await read(harness, record.message);
      expect(answers.map(({ kind }) => kind)).toEqual(["ok"]);
      expect(settled).toMatchObject({
        message: record.message,
        state: decided.next,
        epoch: record.epoch,
        retried: decided.retried,
        leaseLosses: decided.leaseLosses,
        deferrals: decided.deferrals,
      });
      expectAlarm(settled, from, harness.now());
    });
  }

  it("a message that is handed back can be claimed at once, by any deliverer", async (harness) => {
    const record = await insertClaimed(harness);

    await harness.records.settle([giveBack(record, harness.now())]);

    expect(await harness.records.claim([record.message.id], anotherOwner)).toHaveLength(1);
  });

  it("a message that is handed back to its lane waits there, and the lane's alarm is now", async (harness) => {
    const record = await insertClaimed(harness, { flow: oneAtATime });
    await restLane(harness, harness.now() + 600_000);

    await harness.records.settle([giveBack(record, harness.now())]);

    const [lane] = await harness.flowLanes.rows([tightLane]);
    expect(await stateOf(harness, record.message)).toBe("waiting");
    expect(lane?.wakeAt).toBeLessThanOrEqual(harness.now());
    expect(await inLine(harness)).toEqual([record.message.id]);
  });

  it("a settle by a claimer that was overtaken is fenced and changes nothing", async (harness) => {
    const overtaken = await insertClaimed(harness, { policy: aPolicy({ retriesMax: 0 }) });
    await harness.advance(limits.leaseMs);
    await claimOne(harness, overtaken.message.id, anotherOwner);
    const before = await read(harness, overtaken.message);

    const answer = await settle(harness, overtaken, refused);

    expect(answer).toEqual({ kind: "fenced" });
    expect(await read(harness, overtaken.message)).toEqual(before);
  });

  it("a settle by a claimer that was overtaken stays fenced when its successor has settled", async (harness) => {
    const overtaken = await insertClaimed(harness);
    await harness.advance(limits.leaseMs);
    const successor = await claimOne(harness, overtaken.message.id, anotherOwner);
    await settle(harness, successor, refused);

    expect(await settle(harness, overtaken, delivered)).toEqual({ kind: "fenced" });
    expect(await stateOf(harness, overtaken.message)).toBe("held");
  });

  it("a settle after the lease is past still holds, as long as no other claim was made", async (harness) => {
    const record = await insertClaimed(harness);
    await harness.advance(limits.leaseMs + 1_000);

    expect(await settle(harness, record, delivered)).toMatchObject({ kind: "ok" });
    expect(await stateOf(harness, record.message)).toBe("delivered");
  });

  for (const [what, outcome] of outcomes) {
    it(`a settle that is repeated after a lost answer succeeds and is done once: ${what}`, async (harness) => {
      const policy = aPolicy({
        callback: aCallbackPlan(),
      });
      const record = await insertClaimed(harness, { policy });
      const decided = settlementOf(harness, record, outcome);
      await harness.records.settle([decided]);
      const once = await read(harness, record.message);

      const again = await harness.records.settle([decided]);

      expect(again).toMatchObject([{ kind: "ok" }]);
      expect(await read(harness, record.message)).toEqual(once);
    });
  }

  it("a settle that is repeated after its follow-ups were cleared does not bring them back", async (harness) => {
    const policy = aPolicy({
      callback: aCallbackPlan(),
    });
    const record = await insertClaimed(harness, { policy });
    const decided = settlementOf(harness, record, delivered);
    await harness.records.settle([decided]);
    await clearAll(harness, record.message);

    expect(await harness.records.settle([decided])).toMatchObject([{ kind: "ok" }]);
    expect((await read(harness, record.message)).outbox).toEqual([]);
  });

  it("of two different settlements of one claim at once one becomes the state", async (harness) => {
    const { records, other = harness } = harness;
    const record = await insertClaimed(harness);
    const success = settlementOf(harness, record, delivered);
    const failure = settlementOf(harness, record, refused);

    await Promise.all([records.settle([success]), other.records.settle([failure])]);

    const { state, retried } = await read(harness, record.message);
    expect([
      [success.next, 0],
      [failure.next, 1],
    ]).toContainEqual([state, retried]);
  });

  it("each settlement of a batch has its own result, in order", async (harness) => {
    const fine = await insertClaimed(harness);
    const canceled = await insertClaimed(harness);
    const alsoFine = await insertClaimed(harness);
    await harness.records.cancel(canceled.message.tenant, [canceled.message.id]);
    const records = [fine, canceled, alsoFine];

    const answers = await harness.records.settle(
      records.map((record) => settlementOf(harness, record, delivered)),
    );

    expect(answers.map(({ kind }) => kind)).toEqual(["ok", "fenced", "ok"]);
    expect(await harness.records.settle([])).toEqual([]);
  });

  it("a settle of a missing message is fenced", async (harness) => {
    const record = await insertClaimed(harness);
    const gone = { ...record, message: { ...record.message, id: harness.ids.next() } };

    expect(await settle(harness, gone, delivered)).toEqual({ kind: "fenced" });
  });

  it("a settle of a claim that was never made is fenced", async (harness) => {
    const record = await insertClaimed(harness);

    expect(await settle(harness, { ...record, epoch: record.epoch + 1 }, delivered)).toEqual({
      kind: "fenced",
    });
    expect(await settle(harness, { ...record, epoch: record.epoch - 1 }, delivered)).toEqual({
      kind: "fenced",
    });
    expect(await stateOf(harness, record.message)).toBe("claimed");
  });

  it("a settle of one record leaves its neighbours alone", async (harness) => {
    const record = await insertClaimed(harness);
    const neighbour = await insert(harness);
    const before = await read(harness, neighbour);

    await settle(harness, record, delivered);

    expect(await read(harness, neighbour)).toEqual(before);
  });
}

async function restLane(harness: Parameters<typeof read>[0], wakeAt: number): Promise<void> {
  const [lane] = await harness.flowLanes.rows([tightLane]);
  expect(await harness.flowLanes.rest(tightLane, lane?.seq ?? -1, wakeAt, undefined)).toBe(true);
}
