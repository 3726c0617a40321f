/** Indexes that hold only documents with a field still answer the frequent queries. */
import { describe, expect, it, jest } from "@jest/globals";
import {
  accept,
  allShards,
  callbackId,
  flowLaneId,
  groupChunkId,
  type LiveFilter,
} from "@posthaste/domain";
import { aMessage, aTenant, aFanOut } from "@posthaste/testing";
import { type Document, type Filter, type FindCursor } from "mongodb";
import { type Connection } from "../connection.ts";
import { createReferred } from "../fan-outs/fan-outs.ts";
import { fanOutsName } from "../fan-outs/stored-fan-out.ts";
import { intercepted } from "../intercepted.fixture.ts";
import { servers } from "../servers.fixture.ts";
import { openStores } from "./harness.fixture.ts";
import { createRecordPorts, storeOf } from "./record-ports.ts";
import { collectionName } from "./stored.ts";

jest.setTimeout(120_000);

const flow = { key: "lane", limits: { parallelism: 1, periodMs: 1_000 } };
const asked = [
  "wakeAt_1_shard_1",
  "followUpAt_1_shard_1",
  "factAt_1_shard_1",
  "sweepAt_1_shard_1",
  "owedSweepAt_1_shard_1",
  "canceledSweepAt_1_shard_1",
  "toldSweepAt_1_shard_1",
  "tenant_1_state_1_origin_1__id_1",
  "lane_1_state_1_place_1__id_1",
  "bodyOf_1",
  "tombstoneUntil_1",
  "chunks_1",
  "tenant_1_message.policy.labels_1__id_1",
  "tenant_1_message.policy.flow.key_1__id_1",
  "tenant_1_message.origin.queueName_1__id_1",
  "tenant_1_message.origin.scheduleId_1__id_1",
  "tenant_1_message.origin.group.name_1__id_1",
];

/** A rare term leads to its messages, even beside terms that all messages have. */
const filters: readonly LiveFilter[] = [
  { labels: ["rare", "other"] },
  { labels: ["rare"], urls: ["https://a.example/"], callerIps: ["::1"] },
  { flowControlKeys: [flow.key], from: 1 },
  { queueNames: ["rare"], paths: ["/"] },
  { scheduleIds: ["rare"], hosts: ["a.example"] },
  { groups: ["rare"] },
];

describe.each(servers)("$name", ({ uri }) => {
  const open = openStores(uri);
  it(`rounds, sweeps, lines, pulls and cancels by a rare value read the documents that they need and no others`, async () => {
    const { connection, clock, insert, messages, ids } = await open();
    const cursors: FindCursor<Document>[] = [];
    const watched = watching(connection, cursors);
    const { records, alarms, flowLanes, fanOuts } = createRecordPorts(watched, watched);
    const expanded = aFanOut({ now: clock.now(), endpointCount: 1 });
    const callback = aMessage({ id: callbackId(ids.next(), 0), now: clock.now() });
    await insert([...messages(40), ...messages(40, { flow })]);
    await records.insert([{ record: accept(callback, clock.now()) }], "new");
    for (const each of [expanded, aFanOut({ now: clock.now() })]) await fanOuts.insert(each, "new");
    await fanOuts.advance(expanded.id, 0, 1, true);
    await clock.advance(60_000);

    await alarms.next(allShards);
    await alarms.ring(allShards, 100);
    await records.pull(aTenant, 10, []);
    await flowLanes.heads(flowLaneId(aTenant, flow.key), 10);
    await records.removeFinished(allShards, clock.now(), 10);
    const walk = { upTo: { id: ids.next(), at: clock.now() }, foundMax: 10, lookedMax: 20 };
    for (const filter of filters) await records.matching(aTenant, filter, walk);
    await createReferred(storeOf(watched))([groupChunkId("chunk_1")]);

    const plans = await Promise.all(
      cursors.map(async (cursor) => JSON.stringify(await cursor.clone().explain("queryPlanner"))),
    );
    const used = plans.map((plan) => /"indexName":"([^"]+)"/.exec(plan)?.[1] ?? plan);
    expect(new Set(used)).toEqual(new Set(asked));
    // A scan for each shard would step over the removed entries of all later shards.
    const ofShards = plans.filter((plan) => plan.includes('"shard"'));
    expect(ofShards.filter((plan) => plan.includes("SORT_MERGE"))).toEqual([]);
  });
});

const watching = (connection: Connection, cursors: FindCursor<Document>[]): Connection =>
  intercepted(connection, [collectionName, fanOutsName], ({ collection, name, given, go }) => {
    const answer = go();
    if (name === "find") cursors.push(answer as FindCursor<Document>);
    const filter = (name === "distinct" ? given[1] : given[0]) as Filter<Document>;
    if (name === "findOne" || name === "distinct") cursors.push(collection.find(filter));
    return answer;
  });
