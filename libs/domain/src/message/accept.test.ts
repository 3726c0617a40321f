import { describe, expect, it } from "@jest/globals";
import { flowLaneId, shardOf } from "../shared/ids.ts";
import {
  aCommand,
  aFlow,
  aMessage,
  anOwner,
  aPolicy,
  epochStart as now,
  newId,
} from "@posthaste/testing";
import { accept, acceptClaimed, claimableAtInsert, messageOf } from "./accept.ts";

const flow = { key: "k", limits: { parallelism: 2, periodMs: 1_000 } };
describe("a message of a command", () => {
  it("is due from now on when nothing was postponed", () => {
    const id = newId();

    const message = messageOf(aCommand(), "https://a.example/x", id, now);

    expect(message).toMatchObject({
      id,
      url: "https://a.example/x",
      createdAt: now,
      notBefore: now,
      shard: shardOf(id),
    });
    expect(message).not.toHaveProperty("flow");
    expect(message.origin).toEqual({ callerIp: "203.0.113.7", hop: 0 });
  });

  it.each([
    ["a delay counts from now", { kind: "delay", delayMs: 5_000 }, now + 5_000],
    ["a time ahead is taken as it is", { kind: "notBefore", at: now + 9_000 }, now + 9_000],
    ["a time past means now", { kind: "notBefore", at: now - 9_000 }, now],
  ] as const)("is postponed: %s", (_, postponement, notBefore) => {
    expect(
      messageOf(aCommand({ postponement }), "https://a.example/", newId(), now).notBefore,
    ).toBe(notBefore);
  });

  it("with flow control is in the lane of its tenant and key, and in that lane's shard", () => {
    const command = aCommand({ policy: aPolicy({ flow }) });

    const message = messageOf(command, "https://a.example/", newId(), now);

    const lane = flowLaneId(command.tenant, "k");
    expect(message).toMatchObject({ flow: lane, shard: shardOf(lane) });
  });
});

describe("an accepted record", () => {
  it.each([
    ["at once", aMessage({ now }), { kind: "due", hints: 0 }, now + 30_000],
    ["later", aMessage({ now, delayMs: 5_000 }), { kind: "held", dueAt: now + 5_000 }, now + 5_000],
    ["in a lane", aMessage({ now, flow }), { kind: "waiting", flow: aFlow }, undefined],
    [
      "in a lane, later",
      aMessage({ now, flow, delayMs: 1 }),
      { kind: "held", dueAt: now + 1 },
      now + 1,
    ],
  ] as const)(
    "to be delivered %s starts in the right state with its alarm",
    (_, message, state, wakeAt) => {
      expect(accept(message, now)).toEqual({
        message,
        state,
        wakeAt,
        epoch: 0,
        retried: 0,
        leaseLosses: 0,
        deferrals: 0,
        outbox: [],
      });
    },
  );

  it("whose time came while it was being accepted is due", () => {
    expect(accept(aMessage({ now, delayMs: 10 }), now + 10).state).toEqual({
      kind: "due",
      hints: 0,
    });
  });

  it.each([
    ["a plain one", aMessage({ now }), true],
    ["a delayed one", aMessage({ now, delayMs: 1 }), false],
    ["one with a lane", aMessage({ now, flow }), false],
  ])("may be claimed by its own insert: %s, %s", (_, message, expected) => {
    expect(claimableAtInsert(message)).toBe(expected);
  });

  it("that was claimed by its own insert is at epoch 1 with a lease of 30 s", () => {
    expect(acceptClaimed(aMessage({ now }), anOwner, now)).toMatchObject({
      state: { kind: "claimed", owner: anOwner, leaseUntil: now + 30_000 },
      wakeAt: now + 30_000,
      epoch: 1,
    });
  });
});
