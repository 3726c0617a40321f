/** Getting into line is two writes, record then lane: what a granter may do between them. */
import { describe, expect, it, jest } from "@jest/globals";
import { flowLaneId, giveBack, limits } from "@posthaste/domain";
import { type MessageStore } from "@posthaste/ports";
import { aTenant } from "@posthaste/testing";
import { allShards, type Harness, openStores } from "./harness.fixture.ts";
import { createMessageStore } from "./store.ts";
import { servers } from "../servers.fixture.ts";

jest.setTimeout(120_000);

const oneAtATime = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
const tightLane = flowLaneId(aTenant, oneAtATime.key);

type Entry = {
  readonly what: string;
  /** Makes the lane, empty, and answers with how somebody gets into its line through `watched`. */
  readonly prepare: (harness: Harness, watched: MessageStore) => Promise<() => Promise<unknown>>;
};

const entries: readonly Entry[] = [
  {
    what: "by an insert",
    prepare: async ({ claim, clock, insert, messages, store }, watched) => {
      const [gone] = messages(1, { flow: oneAtATime });
      if (!gone) throw new Error("unreachable");
      await insert([gone]);
      await store.promote(tightLane, [gone.id], clock.now() + limits.grantMs);
      await claim([gone.id]);
      return () => insert(messages(1, { flow: oneAtATime }), watched);
    },
  },
  {
    what: "by a claim that is handed back",
    prepare: async ({ claim, clock, insert, messages, store }, watched) => {
      const [message] = messages(1, { flow: oneAtATime });
      if (!message) throw new Error("unreachable");
      await insert([message]);
      await store.promote(tightLane, [message.id], clock.now() + limits.grantMs);
      const [record] = await claim([message.id]);
      if (!record) throw new Error("unreachable");
      return () => watched.settle([giveBack(record, clock.now())]);
    },
  },
  {
    what: "after a delay",
    prepare: async ({ clock, insert, messages }, watched) => {
      await insert(messages(1, { flow: oneAtATime, delayMs: 1_000 }));
      return async () => {
        await clock.advance(1_000);
        await watched.ring(allShards, 100);
      };
    },
  },
];

describe.each(servers)("$name", ({ uri }) => {
  const open = openStores(uri);

  for (const { what, prepare } of entries)
    it(`a granter who looks between any two calls puts no lane to rest in which somebody stands: ${what}`, async () => {
      const harness = await open();
      const { connection, store } = harness;
      const looking = {
        ...connection,
        again: async <T>(task: () => Promise<T>): Promise<T> => {
          const answer = await connection.again(task);
          await restIfEmpty(store);
          return answer;
        },
      };
      const enter = await prepare(harness, createMessageStore(looking, looking));
      await restIfEmpty(store);
      expect((await store.lanes([tightLane]))[0]?.wakeAt).toBeUndefined();

      await enter();

      expect(await store.heads(tightLane, 10)).toHaveLength(1);
      const [lane] = await store.lanes([tightLane]);
      expect(lane?.wakeAt).toBeLessThanOrEqual(harness.clock.now() + limits.ringAheadMs);
    });
});

/** As `grant` of the engine does it when there is nothing to grant. */
async function restIfEmpty(store: MessageStore): Promise<void> {
  const [lane] = await store.lanes([tightLane]);
  if (!lane || (await store.heads(tightLane, 1)).length > 0) return;
  await store.rest(tightLane, lane.seq, undefined, lane.window);
}
