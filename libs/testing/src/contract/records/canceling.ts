import { expect } from "@jest/globals";
import { allShards, isDerived, limits, type Message, type StateKind } from "@posthaste/domain";
import { aCallbackPlan, anotherTenant, anOwner, aPolicy, aTenant } from "../../builders/message.ts";
import {
  delivered,
  expectAlarm,
  inLine,
  insert,
  insertClaimed,
  insertDelivered,
  type RecordsHarness,
  oneAtATime,
  read,
  refused,
  settle,
  type StoreGuarantee,
  stateOf,
  tightLane,
} from "./harness.ts";

export function canceling(it: StoreGuarantee): void {
  for (const { was, arrange } of live) {
    it(`a message that is ${was} can be canceled, which raises its epoch`, async (harness) => {
      const message = await arrange(harness);
      const before = await read(harness, message);
      const from = harness.now();

      const [answer] = await harness.records.cancel(message.tenant, [message.id]);

      const after = await read(harness, message);
      const bodiless = { ...message, body: new Uint8Array() };
      expect(answer).toMatchObject({ kind: "canceled", was, message: bodiless });
      expect(after).toMatchObject({
        message,
        epoch: before.epoch + 1,
        state: { kind: "canceled" },
      });
      expect(after.outbox).toEqual(answer?.kind === "canceled" ? answer.left : undefined);
      expectAlarm(after, from, harness.now());
    });
  }

  it("a cancellation leaves its fact in the outbox, or has made it safe itself", async (harness) => {
    const message = await insert(harness);

    const [answer] = await harness.records.cancel(message.tenant, [message.id]);

    const left = answer?.kind === "canceled" ? answer.left : [];
    for (const item of left)
      expect(item).toMatchObject({ kind: "fact", ended: "canceled", id: message.id, attempt: 0 });
    expect(left.length).toBeLessThanOrEqual(1);
  });

  it("a cancellation keeps the follow-ups of earlier attempts", async (harness) => {
    const callback = aCallbackPlan();
    const record = await insertClaimed(harness, { policy: aPolicy({ callback }) });
    await settle(harness, record, refused);

    await harness.records.cancel(aTenant, [record.message.id]);

    const { outbox } = await read(harness, record.message);
    expect(outbox.map(({ kind, attempt }) => [kind, attempt])).toContainEqual(["callback", 0]);
  });

  it("a settle of an attempt that was canceled is fenced", async (harness) => {
    const record = await insertClaimed(harness);
    await harness.records.cancel(aTenant, [record.message.id]);

    expect(await settle(harness, record, delivered)).toEqual({ kind: "fenced" });
    expect(await settle(harness, record, refused)).toEqual({ kind: "fenced" });
    expect(await stateOf(harness, record.message)).toBe("canceled");
  });

  it("a cancelled message is no longer claimed, pulled or in line", async (harness) => {
    const due = await insert(harness);
    const waiting = await insert(harness, { flow: oneAtATime });
    await harness.records.cancel(aTenant, [due.id, waiting.id]);

    expect(await harness.records.claim([due.id, waiting.id], anOwner)).toEqual([]);
    expect(await harness.records.pull(aTenant, 10, [])).toEqual([]);
    expect(await inLine(harness)).toEqual([]);
    expect(
      await harness.flowLanes.promote(tightLane, [waiting.id], harness.now() + limits.grantMs),
    ).toEqual([]);
  });

  it("an ended message cannot be canceled", async (harness) => {
    const done = await insertDelivered(harness);
    const canceled = await insert(harness);
    await harness.records.cancel(aTenant, [canceled.id]);
    const before = await read(harness, canceled);

    const answers = await harness.records.cancel(aTenant, [done.id, canceled.id]);

    expect(answers).toEqual([{ kind: "unknown" }, { kind: "unknown" }]);
    expect(await read(harness, canceled)).toEqual(before);
    expect(await stateOf(harness, done)).toBe("delivered");
  });

  it("a message is canceled by its own tenant only", async (harness) => {
    const theirs = await insert(harness, { tenant: anotherTenant });

    expect(await harness.records.cancel(aTenant, [theirs.id])).toEqual([{ kind: "unknown" }]);
    expect(await stateOf(harness, theirs)).toBe("due");
  });

  it("results of a cancel are in the order of the ids, unknown ids included", async (harness) => {
    const first = await insert(harness);
    const second = await insert(harness);

    const answers = await harness.records.cancel(aTenant, [
      second.id,
      harness.ids.next(),
      first.id,
    ]);

    expect(answers.map(({ kind }) => kind)).toEqual(["canceled", "unknown", "canceled"]);
    expect(
      answers.map((answer) => (answer.kind === "canceled" ? answer.message.id : undefined)),
    ).toEqual([second.id, undefined, first.id]);
    expect(await harness.records.cancel(aTenant, [])).toEqual([]);
  });

  it("ten cancellations at once cancel once", async (harness) => {
    const { other = harness } = harness;
    const { id } = await insert(harness);

    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? harness : other).records.cancel(aTenant, [id]),
      ),
    );

    expect(answers.flat().filter(({ kind }) => kind === "canceled")).toHaveLength(1);
  });

  it("a settle and a cancellation at once have one winner, and the other gets that answer", async (harness) => {
    const { other = harness } = harness;
    const record = await insertClaimed(harness);

    const [settled, [canceled]] = await Promise.all([
      settle(harness, record, delivered),
      other.records.cancel(aTenant, [record.message.id]),
    ]);

    const state = await stateOf(harness, record.message);
    expect([settled.kind, canceled?.kind, state]).toEqual(
      state === "delivered" ? ["ok", "unknown", "delivered"] : ["fenced", "canceled", "canceled"],
    );
  });

  it("a canceled message is removed like any that has ended", async (harness) => {
    const message = await insert(harness);
    await harness.records.cancel(aTenant, [message.id]);
    const { outbox } = await read(harness, message);
    await harness.records.clear(
      outbox.map(({ attempt, kind }) => ({ id: message.id, attempt, item: kind })),
    );
    await harness.advance(1_000);

    expect(isDerived(message.id)).toBe(false);
    expect(await harness.records.removeFinished(allShards, harness.now(), 10)).toBe(1);
    expect(await harness.records.get(aTenant, [message.id])).toEqual([undefined]);
  });
}

type Live = {
  readonly was: StateKind;
  readonly arrange: (harness: RecordsHarness) => Promise<Message>;
};

const live: readonly Live[] = [
  { was: "due", arrange: (harness) => insert(harness) },
  { was: "held", arrange: (harness) => insert(harness, { delayMs: 60_000 }) },
  { was: "waiting", arrange: (harness) => insert(harness, { flow: oneAtATime }) },
  { was: "claimed", arrange: async (harness) => (await insertClaimed(harness)).message },
];
