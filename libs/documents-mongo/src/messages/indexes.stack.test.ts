/** Indexes hold only the documents that have a field: that what is asked all the time is still answered by them. */
import { describe, expect, it, jest } from "@jest/globals";
import { accept, callbackId, flowLaneId, groupChunkId } from "@posthaste/domain";
import { aMessage, aTenant } from "@posthaste/testing";
import { type Collection, type Document, type Filter, type FindCursor } from "mongodb";
import { type Connection } from "../connection.ts";
import { servers } from "../servers.fixture.ts";
import { createReferred } from "./expanded.ts";
import { allShards, openStores } from "./harness.fixture.ts";
import { createMessageStore, roomsOf } from "./store.ts";
import { collectionName } from "./stored.ts";

jest.setTimeout(120_000);

const flow = { key: "lane", limits: { parallelism: 1, periodMs: 1_000 } };
const asked = [
  "shard_1_wakeAt_1",
  "shard_1_sweepAt_1",
  "tenant_1_state_1_origin_1__id_1",
  "lane_1_state_1_place_1__id_1",
  "bodyOf_1",
  "tombstoneUntil_1",
  "message.fanOut.chunks_1",
];

describe.each(servers)("$name", ({ name, uri }) => {
  const open = openStores(uri);
  const explains = !name.startsWith("mongo-java-server");
  const remark = explains ? "" : " (deviates: this server explains nothing)";

  (explains ? it : it.skip)(
    `rounds, sweeps, lines and pulls read the documents that they want and no others${remark}`,
    async () => {
      const { connection, clock, insert, messages, ids } = await open();
      const cursors: FindCursor<Document>[] = [];
      const watched = watching(connection, cursors);
      const store = createMessageStore(watched, watched);
      const fanOut = { group: "group", chunks: [], endpointCount: 1, skipped: [] };
      const callback = aMessage({ id: callbackId(ids.next(), 0), now: clock.now() });
      const parents = messages(1, { url: "", fanOut });
      await insert([...messages(40), ...messages(40, { flow }), ...parents]);
      await store.insert([{ record: accept(callback, clock.now()) }]);
      for (const { id } of parents) await store.expanded(id, 0, 1, true);
      await clock.advance(60_000);

      await store.nextAlarm(allShards);
      await store.ring(allShards, 100);
      await store.pull(aTenant, 10, []);
      await store.heads(flowLaneId(aTenant, flow.key), 10);
      await store.removeFinished(allShards, clock.now(), 10);
      await createReferred(roomsOf(watched))([groupChunkId("chunk_1")]);

      const plans = await Promise.all(
        cursors.map(async (cursor) => JSON.stringify(await cursor.clone().explain("queryPlanner"))),
      );
      const used = plans.map((plan) => /"Index Name":"([^"]+)"/.exec(plan)?.[1] ?? plan);
      // To read all is to follow `_id_`, with this server; nothing here asks for an id.
      expect(new Set(used)).toEqual(new Set(asked));
    },
  );
});

/** Keeps a cursor of each read of the messages. */
function watching(connection: Connection, cursors: FindCursor<Document>[]): Connection {
  const watch = <T extends Document>(name: string): Collection<T> => {
    const collection = connection.collection<T>(name);
    if (name !== collectionName) return collection;
    return new Proxy(collection, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== "function") return value;
        return (...given: unknown[]): unknown => {
          const answer: unknown = Reflect.apply(value, target, given);
          if (key === "find") cursors.push(answer as FindCursor<Document>);
          const filter = (key === "distinct" ? given[1] : given[0]) as Filter<T>;
          if (key === "findOne" || key === "distinct") cursors.push(target.find(filter));
          return answer;
        };
      },
    });
  };
  return { ...connection, collection: watch };
}
