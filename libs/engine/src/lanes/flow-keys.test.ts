import { describe, expect, it } from "@jest/globals";
import { flowLaneId, limits } from "@posthaste/domain";
import { StoreError } from "@posthaste/ports";
import { aTenant } from "@posthaste/testing";
import {
  listFlowKeys,
  pauseFlowKey,
  pinFlowKey,
  readFlowKey,
  resetFlowKey,
  resetFlowRate,
  resumeFlowKey,
} from "./flow-keys.ts";
import { grant } from "./grant.ts";
import { insert, listen, open, type Ports, read, rest } from "../opened.fixture.ts";

const key = "tight";
const lane = flowLaneId(aTenant, key);
const flow = { key, limits: { parallelism: 1, rate: 5, periodMs: 60_000 } };

const stateOf = async (ports: Ports, message: Parameters<typeof read>[1]) =>
  (await read(ports, message))?.state.kind;

describe("a paused key", () => {
  it("gives nothing, and has no alarm however many messages join it", async () => {
    const ports = open();
    await pauseFlowKey(ports, aTenant, key);
    const message = await insert(ports, { flow });

    await grant(ports, lane);

    expect(await stateOf(ports, message)).toBe("waiting");
    expect((await ports.flowLanes.rows([lane]))[0]?.wakeAt).toBeUndefined();
  });

  it("continues when it is resumed, and its scheduler is woken", async () => {
    const ports = open();
    await pauseFlowKey(ports, aTenant, key);
    const message = await insert(ports, { flow });
    await grant(ports, lane);
    const heard = await listen(ports);

    await resumeFlowKey(ports, aTenant, key);
    await rest(ports);
    await grant(ports, lane);

    expect(heard.wakes).toEqual([expect.objectContaining({ lane })]);
    expect(await stateOf(ports, message)).toBe("due");
  });

  it("has its alarm if it is resumed while a granter rests it", async () => {
    const ports = open();
    await pauseFlowKey(ports, aTenant, key);
    await insert(ports, { flow });
    const resumedMeanwhile: Ports = {
      ...ports,
      flowLanes: {
        ...ports.flowLanes,
        rest: async (...given) => {
          await ports.flowLanes.resume({ ...flow, lane, tenant: aTenant, shard: 0, format: 1 });
          return ports.flowLanes.rest(...given);
        },
      },
    };

    await grant(resumedMeanwhile, lane);

    expect((await readFlowKey(ports, aTenant, key))?.slots).toBe(1);
  });
});

describe("the state of a key", () => {
  it("is read from its line, its slots and its window", async () => {
    const ports = open();
    await insert(ports, { flow });
    await insert(ports, { flow });
    const startedAt = ports.clock.now();
    await grant(ports, lane);

    const now = await readFlowKey(ports, aTenant, key);
    await ports.clock.advance(60_000);
    const later = await readFlowKey(ports, aTenant, key);

    expect(now).toMatchObject({ waiting: 1, slots: 1, window: { startedAt, count: 1 } });
    expect(now?.lane).toMatchObject({ key, limits: flow.limits, paused: false });
    expect(later?.window).toBeUndefined();
  });

  it("is read from the records while the token store is away", async () => {
    const ports = open();
    await insert(ports, { flow });
    await insert(ports, { flow });
    await grant(ports, lane);
    const peek = () => Promise.reject(new StoreError("unavailable", "away"));

    const found = await readFlowKey({ ...ports, tokens: { ...ports.tokens, peek } }, aTenant, key);

    expect(found).toMatchObject({ waiting: 1, slots: 1, window: { count: 1 } });
  });

  it("of a key that was never named is nothing", async () => {
    expect(await readFlowKey(open(), aTenant, key)).toBeUndefined();
  });

  it("is listed, of all whose key has the text in it", async () => {
    const ports = open();
    for (const each of ["b", "ab", "c"]) await pauseFlowKey(ports, aTenant, each);

    const found = await listFlowKeys(ports, aTenant, "b");

    expect(found.map((each) => each.lane.key)).toEqual(["ab", "b"]);
  });

  it("is listed among the first thousand, in the order of their keys", async () => {
    const ports = open();
    const keys = Array.from({ length: limits.flowKeysListedMax + 5 }, (_, n) => `k${10_000 + n}`);
    await Promise.all(keys.toReversed().map((each) => pauseFlowKey(ports, aTenant, each)));

    const found = await listFlowKeys(ports, aTenant, "");

    expect(limits.flowKeysListedMax).toBe(1_000);
    expect(found.map((each) => each.lane.key)).toEqual(keys.slice(0, limits.flowKeysListedMax));
  });
});

describe("the rate of a key", () => {
  it("counts anew from its reset, which lets messages go that wait for the next period", async () => {
    const ports = open();
    const twoAMinute = { key, limits: { rate: 2, periodMs: 60_000 } };
    for (let n = 0; n < 5; n++) await insert(ports, { flow: twoAMinute });
    await grant(ports, lane);
    const before = await readFlowKey(ports, aTenant, key);
    await ports.clock.advance(10_000);

    await resetFlowRate(ports, aTenant, key);

    const startedAt = ports.clock.now();
    expect(before).toMatchObject({
      waiting: 3,
      window: { startedAt: startedAt - 10_000, count: 2 },
    });
    const after = await readFlowKey(ports, aTenant, key);
    expect(after).toMatchObject({ waiting: 1, window: { startedAt, count: 2 } });
    expect((await ports.flowLanes.rows([lane]))[0]?.window).toEqual({ startedAt, count: 2 });
  });

  it("is reset with the slots that the records name, if the token store has lost them", async () => {
    const ports = open();
    await insert(ports, { flow });
    await grant(ports, lane);
    const { tokens } = open();

    await resetFlowKey({ ...ports, tokens }, aTenant, key);

    expect((await tokens.peek(lane)).slots).toBe(1);
  });

  it("begins a period when it is pinned", async () => {
    const ports = open();
    await insert(ports, { flow: { key, limits: { rate: 1, periodMs: 60_000 } } });
    await grant(ports, lane);
    await ports.clock.advance(10_000);

    await pinFlowKey(ports, aTenant, key, { rate: { rate: 3, periodMs: 30_000 } });

    const startedAt = ports.clock.now();
    expect((await readFlowKey(ports, aTenant, key))?.window).toEqual({ startedAt, count: 0 });
  });
});
