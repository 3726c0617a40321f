/** Joining a line takes two writes, of the record and of the lane. A granter may come between them. */
import { describe, expect, it, jest } from "@jest/globals";
import { allShards, flowLaneId, giveBack, limits } from "@posthaste/domain";
import { type FlowLanes, type RecordPorts } from "@posthaste/ports";
import { aTenant } from "@posthaste/testing";
import { type Harness, openStores } from "./harness.fixture.ts";
import { createRecordPorts } from "./record-ports.ts";
import { servers } from "../servers.fixture.ts";

jest.setTimeout(120_000);

const oneAtATime = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
const tightLane = flowLaneId(aTenant, oneAtATime.key);

type Entry = {
  readonly what: string;
  /** Makes an empty lane. Returns a function by which a record joins its line through `watched`. */
  readonly prepare: (harness: Harness, watched: RecordPorts) => Promise<() => Promise<unknown>>;
};

const entries: readonly Entry[] = [
  {
    what: "by an insert",
    prepare: async ({ claim, clock, insert, messages, flowLanes }, watched) => {
      const [gone] = messages(1, { flow: oneAtATime });
      if (!gone) throw new Error("unreachable");
      await insert([gone]);
      await flowLanes.promote(tightLane, [gone.id], clock.now() + limits.grantMs);
      await claim([gone.id]);
      return () => insert(messages(1, { flow: oneAtATime }), watched.records);
    },
  },
  {
    what: "by a claim that is handed back",
    prepare: async ({ claim, clock, insert, messages, flowLanes }, watched) => {
      const [message] = messages(1, { flow: oneAtATime });
      if (!message) throw new Error("unreachable");
      await insert([message]);
      await flowLanes.promote(tightLane, [message.id], clock.now() + limits.grantMs);
      const [record] = await claim([message.id]);
      if (!record) throw new Error("unreachable");
      return () => watched.records.settle([giveBack(record, clock.now())]);
    },
  },
  {
    what: "after a delay",
    prepare: async ({ clock, insert, messages }, watched) => {
      await insert(messages(1, { flow: oneAtATime, delayMs: 1_000 }));
      return async () => {
        await clock.advance(1_000);
        await watched.alarms.ring(allShards, 100);
      };
    },
  },
];

describe.each(servers)("$name", ({ uri }) => {
  const open = openStores(uri);

  for (const { what, prepare } of entries)
    it(`a granter that looks between any two calls puts no lane with a message to rest: ${what}`, async () => {
      const harness = await open();
      const { connection, flowLanes } = harness;
      const looking = {
        ...connection,
        again: async <T>(task: () => Promise<T>): Promise<T> => {
          const answer = await connection.again(task);
          await restIfEmpty(flowLanes);
          return answer;
        },
      };
      const enter = await prepare(harness, createRecordPorts(looking, looking));
      await restIfEmpty(flowLanes);
      expect((await flowLanes.rows([tightLane]))[0]?.wakeAt).toBeUndefined();

      await enter();

      expect(await flowLanes.heads(tightLane, 10)).toHaveLength(1);
      const [lane] = await flowLanes.rows([tightLane]);
      expect(lane?.wakeAt).toBeLessThanOrEqual(harness.clock.now() + limits.ringAheadMs);
    });

  it.each([1, 2, 3, 4])(
    "a record that waits in a lane at rest has an alarm, also when its ringer is killed after %i calls",
    async (callsMax) => {
      const { clock, connection, insert, messages, records, flowLanes } = await open();
      const [message] = messages(1, { flow: oneAtATime });
      if (!message) throw new Error("unreachable");
      await insert([message]);
      const [lane] = await flowLanes.rows([tightLane]);
      await flowLanes.rest(tightLane, lane?.seq ?? 0, undefined, undefined);
      await clock.advance(limits.ringAheadMs);
      let calls = 0;
      const again: typeof connection.again = async (task) => {
        if (++calls > callsMax) throw new Error("killed");
        return connection.again(task);
      };
      const ringer = createRecordPorts({ ...connection, again }, connection);

      await ringer.alarms.ring(allShards, 100).catch(() => undefined);

      const [after] = await flowLanes.rows([tightLane]);
      const [record] = await records.get(aTenant, [message.id]);
      expect(Math.min(after?.wakeAt ?? Infinity, record?.wakeAt ?? Infinity)).toBeLessThan(
        Infinity,
      );
    },
  );
});

/** Puts the lane to rest, as the engine's `grant` does when there is nothing to grant. */
async function restIfEmpty(flowLanes: FlowLanes): Promise<void> {
  const [lane] = await flowLanes.rows([tightLane]);
  if (!lane || (await flowLanes.heads(tightLane, 1)).length > 0) return;
  await flowLanes.rest(tightLane, lane.seq, undefined, lane.window);
}
