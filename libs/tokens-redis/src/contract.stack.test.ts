/** The adapter keeps the contract of its port, and its own additions, on the Redis of `npm run stack -- stores`. */
import { describe, expect, it } from "@jest/globals";
import { flowLaneId, limits } from "@posthaste/domain";
import { systemRandom } from "@posthaste/process";
import { aKey, aTenant, newId, testStores } from "@posthaste/testing";
import { describeTokenStore, type TokenStoreHarness } from "@posthaste/testing/contract";
import { Redis } from "ioredis";
import { clock, openTokens, untilUp, wait } from "./opened.fixture.ts";
import { laneMsMax } from "./scripts.ts";

const { redis } = testStores();
if (!redis) throw new Error("these suites need a Redis");
const { name, url } = redis;

/** Bounds the waits for the host's clock, none longer than for a lease or a pending key. */
const waitMsMax = 40_000;

async function open(): Promise<TokenStoreHarness> {
  const prefix = `test-${systemRandom().text(12)}:`;
  const [tokens, other] = [openTokens(url, { prefix }), openTokens(url, { prefix })];
  await Promise.all([untilUp(tokens), untilUp(other)]);
  return {
    tokens,
    other,
    now: () => clock.now(),
    advance: wait,
    close: async () => {
      await Promise.all([tokens.close(), other.close()]);
    },
  };
}

describeTokenStore(name, open, waitMsMax);

describe(`${name}: calls of one turn`, () => {
  it("are sent together: one script call for each kind, and each caller gets its own answer", async () => {
    const tokens = openTokens(url);
    await untilUp(tokens);
    const entries = Array.from({ length: 50 }, (_, i) => ({ key: aKey(`${i}`), id: newId() }));
    await tokens.claim(entries.slice(0, 10));
    await tokens.confirm(entries.slice(0, 5));
    const before = tokens.counts().calls;

    const answers = await Promise.all(
      entries.map(({ key }) => tokens.claim([{ key, id: newId() }])),
    );

    expect(tokens.counts().calls - before).toBe(1);
    expect(answers.flat().map((answer) => ("id" in answer ? answer.id : answer.kind))).toEqual(
      entries.map(({ id }, i) => (i < 10 ? id : "mine")),
    );
    await tokens.close();
  });
});

describe(`${name}: a lane with thousands that run`, () => {
  it("is restored in calls of a thousand keys and arguments at most, and completely", async () => {
    const tokens = openTokens(url);
    await untilUp(tokens);
    const lane = flowLaneId(aTenant, "many");
    const holders = Array.from({ length: 3_000 }, () => ({ id: newId(), leftMs: 20_000 }));
    const before = tokens.counts().calls;

    await tokens.restore(lane, holders, undefined);

    const calls = tokens.counts().calls - before;
    const full = { parallelism: 3_000, periodMs: 1_000 };
    const { slots } = await tokens.peek(lane);
    expect({ calls, slots }).toEqual({ calls: 8, slots: 3_000 });
    expect((await tokens.acquire(lane, [newId()], full)).granted).toEqual([]);
    await tokens.close();
  });
});

/** The longest life of a key, by its kind. */
const keptMsMax: Readonly<Record<string, number>> = {
  probe: 1_000,
  window: limits.deduplicationMs,
  spent: 5_000,
  lane: laneMsMax,
  slots: laneMsMax,
};

describe(`${name}: every key`, () => {
  it("has an end, whichever call made it", async () => {
    const prefix = `test-${systemRandom().text(12)}:`;
    const tokens = openTokens(url, { prefix });
    await untilUp(tokens);
    const week = { parallelism: 9, rate: 9, periodMs: limits.flowPeriodMsMax };
    const second = { parallelism: 9, periodMs: 1_000 };
    const lane = (key: string) => flowLaneId(aTenant, key);
    const [granted, used, late] = [newId(), newId(), newId()];

    await tokens.claim([{ key: aKey("pending"), id: newId() }]);
    const done = { key: aKey("done"), id: newId() };
    await tokens.claim([done]);
    await tokens.confirm([done, { key: aKey("confirmed alone"), id: newId() }]);
    await tokens.spend("a quota", 1, 9, 5_000);
    await tokens.hold(lane("held, never told"), [newId()]);
    await tokens.resetRate(lane("reset, never told"));
    for (const [key, flow] of [["a week", week] as const, ["a second", second] as const]) {
      await tokens.restore(lane(key), [{ id: newId(), leftMs: 9_000 }], undefined);
      await tokens.acquire(lane(key), [granted, used, late], flow);
      await tokens.use(lane(key), [used]);
      await tokens.release(lane(key), [granted, used, late]);
      await tokens.hold(lane(key), [late]);
    }

    const kept = await keysOf(prefix);
    const kinds = kept.map(({ kind }) => kind);
    expect([...new Set(kinds)].toSorted()).toEqual(Object.keys(keptMsMax).toSorted());
    expect(
      kept.filter(({ kind, leftMs }) => !(leftMs > 0 && leftMs <= (keptMsMax[kind] ?? 0))),
    ).toEqual([]);
    const [lanes, slots] = ["lane", "slots"].map((of) => kept.filter(({ kind }) => kind === of));
    const leftOf = (all: typeof kept = [], key: string): number =>
      all.find(({ name: full }) => full.endsWith(lane(key)))?.leftMs ?? 0;
    expect(leftOf(lanes, "a second")).toBeLessThanOrEqual(2 * limits.leaseMs);
    expect(leftOf(lanes, "a week")).toBeGreaterThan(2 * limits.leaseMs);
    // Otherwise a lane would be known without the slots that it has given.
    expect(leftOf(slots, "a week")).toBeGreaterThan(2 * limits.leaseMs);
    await tokens.close();
  });
});

type Key = { readonly name: string; readonly kind: string; readonly leftMs: number };

async function keysOf(prefix: string): Promise<readonly Key[]> {
  const redis = new Redis(url);
  const names: string[] = [];
  for await (const some of redis.scanStream({ match: `{${prefix}tokens}*`, count: 1_000 }))
    names.push(...(some as readonly string[]));
  const kept = await Promise.all(
    names.map(async (name) => ({
      name,
      kind: name.split("}:")[1]?.split(":")[0] ?? "",
      leftMs: await redis.pttl(name),
    })),
  );
  redis.disconnect();
  return kept;
}
