import { describe, expect, it } from "@jest/globals";
import {
  aCallbackPlan,
  aCommand,
  aFanOut,
  aPolicy,
  aQueue,
  aTenant,
  epochStart as now,
  newId,
} from "@posthaste/testing";
import { childId, flowLaneId, shardOf, slotId } from "../shared/ids.ts";
import { advanceTo, childOf, fanOutOf, flowsOf } from "./fan-out.ts";

const flow = { key: "k", limits: { parallelism: 1, periodMs: 1_000 } };
const target = { group: "g", chunks: [], endpointCount: 2, skipped: [] };
const command = aCommand({
  destination: { kind: "group", name: "g" },
  policy: aPolicy({ flow }),
});
const endpoint = { url: "https://e.example/", name: "one" };

describe("a fan-out", () => {
  const fanOut = fanOutOf(command, target, newId(), now);

  it("rings at once, is in no line, and has a shard of its own", () => {
    expect(fanOut).toMatchObject({
      ...target,
      shard: shardOf(fanOut.id),
      state: { kind: "expanding", upTo: 0 },
      wakeAt: now,
    });
    expect(fanOut.template).not.toHaveProperty("flow");
    expect(fanOut.template).not.toHaveProperty("body");
  });

  it("has children that name their endpoint, share its body and are in the lane", () => {
    const child = childOf(fanOut, endpoint, 1);

    const lane = flowLaneId(aTenant, "k");
    expect(child).toMatchObject({
      id: childId(fanOut.id, 1),
      tenant: aTenant,
      url: "https://e.example/",
      bodyOf: fanOut.id,
      flow: lane,
      shard: shardOf(lane),
      createdAt: now,
      notBefore: now,
    });
    expect(child.origin).toEqual({
      callerIp: "203.0.113.7",
      hop: 0,
      group: { name: "g", endpointName: "one" },
    });
    expect(child.body).toBe(fanOut.body);
  });

  it("makes the same child each time, and one without a name when the endpoint has none", () => {
    const nameless = { url: "https://e.example/" };

    expect(childOf(fanOut, nameless, 0)).toEqual(childOf(fanOut, nameless, 0));
    expect(childOf(fanOut, nameless, 0).origin.group).toEqual({ name: "g" });
  });

  it("hands its queue on to its children, which have that one's shard", () => {
    const queued = fanOutOf(aCommand({ queue: "queue" }), target, newId(), now);
    const child = childOf(queued, endpoint, 0);

    expect(child).toMatchObject({ queue: aQueue, shard: shardOf(aQueue) });
    expect(child.origin.queueName).toBe("queue");
  });

  it("hands its format on to its children", () => {
    expect(childOf(aFanOut({ format: 2 }), endpoint, 0)).toMatchObject({ format: 2 });
    expect(childOf(fanOut, endpoint, 0)).not.toHaveProperty("format");
  });

  it("sets the limits of its flow keys as a message does, and names the lane of its children", () => {
    const callback = aCallbackPlan({ flow: { key: "called", limits: flow.limits } });
    const policy = aPolicy({ flow, callback });

    const { sets, joins } = flowsOf(fanOutOf(aCommand({ policy }), target, newId(), now));

    expect(sets.map(({ key }) => key)).toEqual(["called", "k"]);
    expect(joins?.lane).toBe(flowLaneId(aTenant, "k"));
    expect(flowsOf(aFanOut())).toEqual({ sets: [], joins: undefined });
  });

  it("that comes of a schedule sets no limits", () => {
    const id = slotId(1, "s".repeat(17));

    expect(flowsOf(fanOutOf(command, target, id, now)).sets).toEqual([]);
  });
});

describe("progress", () => {
  it("keeps the alarm 30 s ahead until all children are made", () => {
    expect(advanceTo(500, false, now)).toEqual({
      state: { kind: "expanding", upTo: 500 },
      wakeAt: now + 30_000,
    });
    expect(advanceTo(700, true, now)).toEqual({
      state: { kind: "expanded", endedAt: now },
      wakeAt: undefined,
    });
  });
});
