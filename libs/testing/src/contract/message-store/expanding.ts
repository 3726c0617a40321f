import { expect } from "@jest/globals";
import { accept, childMessage, limits, type Message } from "@posthaste/domain";
import { anOwner, aTenant } from "../../builders/message.ts";
import { anEndpoint } from "../../builders/url-group.ts";
import { dice } from "../../seeded-random.ts";
import {
  allShards,
  clearAll,
  delivered,
  insert,
  type MessageStoreHarness,
  read,
  readIn,
  ringAll,
  settle,
  type StoreGuarantee,
  stateOf,
} from "./harness.ts";

export function expanding(guarantee: StoreGuarantee): void {
  guarantee(
    "the parent of a group publish rings until it is expanded, with its body",
    async (harness) => {
      const parent = await insertParent(harness);
      await harness.advance(limits.ringAheadMs);
      const first = await ringAll(harness);
      await harness.advance(limits.ringAheadMs);
      const second = await ringAll(harness);

      for (const said of [first, second]) {
        expect(said.expanding).toMatchObject([
          { message: parent, state: { kind: "expanding", upTo: 0 } },
        ]);
        expect(said.hints).toEqual([]);
      }
    },
    2 * limits.ringAheadMs,
  );

  guarantee(
    "progress is written where it still begins, and by one expander only",
    async (harness) => {
      const { store, other = store } = harness;
      const parent = await insertParent(harness);

      const [first, second] = await Promise.all([
        store.expanded(parent.id, 0, 500, false),
        other.expanded(parent.id, 0, 500, false),
      ]);

      expect([first, second].toSorted()).toEqual([false, true]);
      expect(await store.expanded(parent.id, 0, 1_000, false)).toBe(false);
      expect((await readIn(harness, parent, "expanding")).state.upTo).toBe(500);
    },
  );

  guarantee("a parent that goes on expanding has an alarm, 30 s ahead at most", async (harness) => {
    const parent = await insertParent(harness);
    await harness.store.expanded(parent.id, 0, 500, false);

    const { wakeAt } = await read(harness, parent);

    expect(wakeAt).toBeLessThanOrEqual(harness.now() + limits.ringAheadMs);
  });

  guarantee(
    "a parent that is expanded has ended: it neither rings nor expands again",
    async (harness) => {
      const parent = await insertParent(harness);
      await harness.store.expanded(parent.id, 0, 500, false);

      expect(await harness.store.expanded(parent.id, 500, 1_000, true)).toBe(true);
      await harness.advance(limits.ringAheadMs);

      expect(await stateOf(harness, parent)).toBe("expanded");
      expect(await ringAll(harness)).toEqual({
        hints: [],
        lanes: [],
        expanding: [],
        followUps: [],
      });
      expect(await harness.store.expanded(parent.id, 1_000, 1_500, false)).toBe(false);
    },
    limits.ringAheadMs,
  );

  guarantee("progress of what is not there, or is no parent, is refused", async (harness) => {
    const { id } = await insert(harness);

    expect(await harness.store.expanded(harness.ids.next(), 0, 500, false)).toBe(false);
    expect(await harness.store.expanded(id, 0, 500, true)).toBe(false);
  });

  guarantee(
    "children share their parent's body, and each is read and claimed with it",
    async (harness) => {
      const body = dice(4).bytes(100_000);
      const parent = await insertParent(harness, body);
      const children = await insertChildren(harness, parent, 3);

      const claimed = await harness.store.claim(
        children.map(({ id }) => id),
        anOwner,
      );

      expect(claimed).toHaveLength(3);
      for (const { message } of claimed) {
        expect(Buffer.compare(message.body, body)).toBe(0);
        expect(Buffer.compare((await read(harness, message)).message.body, body)).toBe(0);
      }
    },
  );

  guarantee(
    "a shared body outlives its parent's end, for as long as a child remains",
    async (harness) => {
      const body = dice(5).bytes(1_000);
      const parent = await insertParent(harness, body);
      const [first, second] = await insertChildren(harness, parent, 2);
      if (!first || !second) throw new Error("unreachable");
      await harness.store.expanded(parent.id, 0, 2, true);
      await finish(harness, first);
      await harness.advance(1_000);
      await harness.store.removeFinished(allShards, harness.now(), 100);

      expect(await harness.store.get(aTenant, [first.id])).toEqual([undefined]);
      expect(Buffer.compare((await read(harness, second)).message.body, body)).toBe(0);
    },
    1_000,
  );

  guarantee(
    "a parent goes when all is expanded and no child remains",
    async (harness) => {
      const parent = await insertParent(harness);
      const children = await insertChildren(harness, parent, 2);
      await harness.store.expanded(parent.id, 0, 2, true);
      for (const child of children) await finish(harness, child);
      await harness.advance(1_000);
      await removeAll(harness);

      const ids = [parent, ...children].map(({ id }) => id);
      expect(await harness.store.get(aTenant, ids)).toEqual([undefined, undefined, undefined]);
    },
    1_000,
  );

  guarantee(
    "a parent that is not expanded yet stays, though no child remains",
    async (harness) => {
      const body = dice(6).bytes(1_000);
      const parent = await insertParent(harness, body);
      for (const child of await insertChildren(harness, parent, 1)) await finish(harness, child);
      await harness.advance(1_000);
      await removeAll(harness);

      expect(Buffer.compare((await read(harness, parent)).message.body, body)).toBe(0);
    },
    1_000,
  );

  guarantee(
    "a batch of children that is inserted again makes none twice",
    async (harness) => {
      const parent = await insertParent(harness);
      const [first] = await insertChildren(harness, parent, 3);
      if (!first) throw new Error("unreachable");
      await finish(harness, first);
      await harness.advance(1_000);
      await harness.store.removeFinished(allShards, harness.now(), 100);

      const again = await harness.store.insert(
        childrenOf(parent, 5).map((child) => ({ record: accept(child, harness.now()) })),
      );

      expect(again).toEqual(["known", "known", "known", "inserted", "inserted"]);
    },
    1_000,
  );
}

const insertParent = (
  harness: MessageStoreHarness,
  body: Uint8Array = new TextEncoder().encode("shared"),
): Promise<Message> =>
  insert(harness, {
    url: "",
    body,
    fanOut: { group: "group", chunks: [], endpointCount: 1_000, skipped: [] },
  });

const childrenOf = (parent: Message, count: number): readonly Message[] =>
  Array.from({ length: count }, (_, index) => childMessage(parent, anEndpoint(index), index));

async function insertChildren(
  harness: MessageStoreHarness,
  parent: Message,
  count: number,
): Promise<readonly Message[]> {
  const children = childrenOf(parent, count);
  await harness.store.insert(children.map((child) => ({ record: accept(child, harness.now()) })));
  return children;
}

async function finish(harness: MessageStoreHarness, message: Message): Promise<void> {
  const [record] = await harness.store.claim([message.id], anOwner);
  if (!record) throw new Error(`${message.id} could not be claimed`);
  await settle(harness, record, delivered);
  await clearAll(harness, message);
}

/** Twice: a parent may be looked at before the last of its children went. */
async function removeAll(harness: MessageStoreHarness): Promise<void> {
  await harness.store.removeFinished(allShards, harness.now(), 100);
  await harness.store.removeFinished(allShards, harness.now(), 100);
}
