import { expect } from "@jest/globals";
import { isDerived, limits, type Message, type StateKind } from "@posthaste/domain";
import { aCallbackPlan, anotherTenant, anOwner, aPolicy, aTenant } from "../../builders/message.ts";
import {
  allShards,
  delivered,
  expectAlarm,
  inLine,
  insert,
  insertClaimed,
  insertDelivered,
  type MessageStoreHarness,
  oneAtATime,
  read,
  refused,
  settle,
  type StoreGuarantee,
  stateOf,
  tightLane,
} from "./harness.ts";

export function canceling(guarantee: StoreGuarantee): void {
  for (const { was, arrange } of live) {
    guarantee(
      `a message that is ${was} can be canceled, which raises its epoch`,
      async (harness) => {
        const message = await arrange(harness);
        const before = await read(harness, message);
        const from = harness.now();

        const [answer] = await harness.store.cancel(message.tenant, [message.id]);

        const after = await read(harness, message);
        expect(answer).toMatchObject({ kind: "canceled", was, message });
        expect(after).toMatchObject({
          message,
          epoch: before.epoch + 1,
          state: { kind: "canceled" },
        });
        expect(after.outbox).toEqual(answer?.kind === "canceled" ? answer.left : undefined);
        expectAlarm(after, from, harness.now());
      },
    );
  }

  guarantee(
    "a cancellation leaves the fact of it to be told, or has made it safe itself",
    async (harness) => {
      const message = await insert(harness);

      const [answer] = await harness.store.cancel(message.tenant, [message.id]);

      const left = answer?.kind === "canceled" ? answer.left : [];
      for (const item of left)
        expect(item).toMatchObject({ kind: "fact", ended: "canceled", id: message.id, attempt: 0 });
      expect(left.length).toBeLessThanOrEqual(1);
    },
  );

  guarantee("a cancellation keeps the follow-ups of earlier attempts", async (harness) => {
    const callback = aCallbackPlan();
    const record = await insertClaimed(harness, { policy: aPolicy({ callback }) });
    await settle(harness, record, refused);

    await harness.store.cancel(aTenant, [record.message.id]);

    const { outbox } = await read(harness, record.message);
    expect(outbox.map(({ kind, attempt }) => [kind, attempt])).toContainEqual(["callback", 0]);
  });

  guarantee("a settle of an attempt that was canceled is fenced", async (harness) => {
    const record = await insertClaimed(harness);
    await harness.store.cancel(aTenant, [record.message.id]);

    expect(await settle(harness, record, delivered)).toEqual({ kind: "fenced" });
    expect(await settle(harness, record, refused)).toEqual({ kind: "fenced" });
    expect(await stateOf(harness, record.message)).toBe("canceled");
  });

  guarantee(
    "a canceled message is neither claimed, nor pulled, nor in line any more",
    async (harness) => {
      const due = await insert(harness);
      const waiting = await insert(harness, { flow: oneAtATime });
      await harness.store.cancel(aTenant, [due.id, waiting.id]);

      expect(await harness.store.claim([due.id, waiting.id], anOwner)).toEqual([]);
      expect(await harness.store.pull(aTenant, 10, [])).toEqual([]);
      expect(await inLine(harness)).toEqual([]);
      expect(
        await harness.store.promote(tightLane, [waiting.id], harness.now() + limits.grantMs),
      ).toEqual([]);
    },
  );

  guarantee("what has ended cannot be canceled any more", async (harness) => {
    const done = await insertDelivered(harness);
    const canceled = await insert(harness);
    await harness.store.cancel(aTenant, [canceled.id]);
    const before = await read(harness, canceled);

    const answers = await harness.store.cancel(aTenant, [done.id, canceled.id]);

    expect(answers).toEqual([{ kind: "unknown" }, { kind: "unknown" }]);
    expect(await read(harness, canceled)).toEqual(before);
    expect(await stateOf(harness, done)).toBe("delivered");
  });

  guarantee("a message is canceled by its own tenant only", async (harness) => {
    const theirs = await insert(harness, { tenant: anotherTenant });

    expect(await harness.store.cancel(aTenant, [theirs.id])).toEqual([{ kind: "unknown" }]);
    expect(await stateOf(harness, theirs)).toBe("due");
  });

  guarantee(
    "answers stand in the order of the ids, with unknown ones among them",
    async (harness) => {
      const first = await insert(harness);
      const second = await insert(harness);

      const answers = await harness.store.cancel(aTenant, [
        second.id,
        harness.ids.next(),
        first.id,
      ]);

      expect(answers.map(({ kind }) => kind)).toEqual(["canceled", "unknown", "canceled"]);
      expect(
        answers.map((answer) => (answer.kind === "canceled" ? answer.message.id : undefined)),
      ).toEqual([second.id, undefined, first.id]);
      expect(await harness.store.cancel(aTenant, [])).toEqual([]);
    },
  );

  guarantee("of ten cancellations at once one succeeds", async (harness) => {
    const { store, other = store } = harness;
    const { id } = await insert(harness);

    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? store : other).cancel(aTenant, [id])),
    );

    expect(answers.flat().filter(({ kind }) => kind === "canceled")).toHaveLength(1);
  });

  guarantee(
    "of a settle and a cancellation at once one holds, and the other is told so",
    async (harness) => {
      const { store, other = store } = harness;
      const record = await insertClaimed(harness);

      const [settled, [canceled]] = await Promise.all([
        settle(harness, record, delivered),
        other.cancel(aTenant, [record.message.id]),
      ]);

      const state = await stateOf(harness, record.message);
      expect([settled.kind, canceled?.kind, state]).toEqual(
        state === "delivered" ? ["ok", "unknown", "delivered"] : ["fenced", "canceled", "canceled"],
      );
    },
  );

  guarantee(
    "a canceled message is removed like any that has ended",
    async (harness) => {
      const message = await insert(harness);
      await harness.store.cancel(aTenant, [message.id]);
      const { outbox } = await read(harness, message);
      await harness.store.clear(
        outbox.map(({ attempt, kind }) => ({ id: message.id, attempt, item: kind })),
      );
      await harness.advance(1_000);

      expect(isDerived(message.id)).toBe(false);
      expect(await harness.store.removeFinished(allShards, harness.now(), 10)).toBe(1);
      expect(await harness.store.get(aTenant, [message.id])).toEqual([undefined]);
    },
    1_000,
  );
}

type Live = {
  readonly was: StateKind;
  readonly arrange: (harness: MessageStoreHarness) => Promise<Message>;
};

const live: readonly Live[] = [
  { was: "due", arrange: (harness) => insert(harness) },
  { was: "held", arrange: (harness) => insert(harness, { delayMs: 60_000 }) },
  { was: "waiting", arrange: (harness) => insert(harness, { flow: oneAtATime }) },
  { was: "claimed", arrange: async (harness) => (await insertClaimed(harness)).message },
];
