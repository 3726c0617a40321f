import { expect } from "@jest/globals";
import { flowLaneId, type FlowLimits, limits, type MessageId } from "@posthaste/domain";
import { type TokenStore } from "@posthaste/ports";
import { aTenant, newId } from "../../builders/message.ts";
import { expectAllGivenBack, type Taking } from "../../give-back.ts";
import { dice } from "../../seeded-random.ts";
import { type TokenGuarantee, type TokenStoreHarness } from "./harness.ts";

const lane = flowLaneId(aTenant, "lane");
const otherLane = flowLaneId(aTenant, "other");
const threeAtOnce: FlowLimits = { parallelism: 3, periodMs: 1_000 };
const threePerTenSeconds: FlowLimits = { rate: 3, periodMs: 10_000 };
const ids = (count: number): readonly MessageId[] => Array.from({ length: count }, () => newId());

export function flowSlots(anyGuarantee: TokenGuarantee): void {
  strangers(anyGuarantee);
  const it = onKnownLanes(anyGuarantee);

  it("free slots go to the first in order", async ({ tokens }) => {
    const line = ids(5);

    const { granted } = await tokens.acquire(lane, line, threeAtOnce);

    expect(granted).toEqual(line.slice(0, 3));
    expect((await tokens.peek(lane)).slots).toBe(3);
    expect((await tokens.acquire(lane, [], threeAtOnce)).granted).toEqual([]);
  });

  it("a full lane grants nothing until a slot is released", async ({ tokens }) => {
    const [first, second, third, fourth] = ids(4);
    if (!first || !second || !third || !fourth) throw new Error("unreachable");
    await tokens.acquire(lane, [first, second, third], threeAtOnce);
    const full = await tokens.acquire(lane, [fourth], threeAtOnce);
    await tokens.release(lane, [second]);
    const after = await tokens.acquire(lane, [fourth], threeAtOnce);

    expect(full.granted).toEqual([]);
    expect(after.granted).toEqual([fourth]);
  });

  anyGuarantee(
    "all slots are free again after their releases, in any order, used or not",
    async ({ tokens }) => {
      let lanes = 0;
      const open = async (): Promise<Taking> => {
        const drawn = flowLaneId(aTenant, `drawn ${lanes++}`);
        await tokens.restore(drawn, [], undefined);
        const taking = (isUsed: boolean) => async () => {
          const id = newId();
          const { granted } = await tokens.acquire(drawn, [id], threeAtOnce);
          if (granted.length === 0) return undefined;
          if (isUsed) await tokens.use(drawn, [id]);
          return { giveBack: () => tokens.release(drawn, [id]) };
        };
        return { takes: [taking(false), taking(true)], held: () => undefined };
      };

      await expectAllGivenBack(open, 10);
    },
  );

  it("a holder that acquires again keeps its one slot", async ({ tokens }) => {
    const [holder, second] = ids(2);
    if (!holder || !second) throw new Error("unreachable");
    const one: FlowLimits = { parallelism: 1, periodMs: 1_000 };
    await tokens.acquire(lane, [holder], one);

    const again = await tokens.acquire(lane, [holder, second], one);

    expect(again.granted).toEqual([holder]);
    expect((await tokens.peek(lane)).slots).toBe(1);
  });

  it("a reset begins an empty window, and an earlier token does not return to it", async ({
    tokens,
  }) => {
    const before = ids(3);
    await tokens.acquire(lane, before, threePerTenSeconds);
    const full = await tokens.acquire(lane, ids(1), threePerTenSeconds);

    const window = await tokens.resetRate(lane);
    const after = await tokens.acquire(lane, ids(3), threePerTenSeconds);
    await tokens.release(lane, before);
    const spent = await tokens.acquire(lane, ids(1), threePerTenSeconds);

    expect(full.granted).toEqual([]);
    expect(window).toEqual({ startedAt: expect.any(Number), count: 0 });
    expect(after.granted).toHaveLength(3);
    expect(after.window).toEqual({ startedAt: window.startedAt, count: 3 });
    expect(spent.granted).toEqual([]);
  });

  it("lanes do not share their slots", async ({ tokens }) => {
    await tokens.acquire(lane, ids(3), threeAtOnce);

    expect((await tokens.acquire(otherLane, ids(3), threeAtOnce)).granted).toHaveLength(3);
  });

  it("a release of a slot that is not held, or a second release, frees no other slot", async ({
    tokens,
  }) => {
    const [first, ...others] = ids(4);
    if (!first) throw new Error("unreachable");
    await tokens.acquire(lane, [first, ...others], threeAtOnce);
    await tokens.release(lane, [first]);
    await tokens.release(lane, [first]);
    await tokens.release(lane, ids(2));
    await tokens.release(otherLane, others);
    await tokens.release(lane, []);

    expect((await tokens.acquire(lane, ids(5), threeAtOnce)).granted).toHaveLength(1);
  });

  it(
    "a slot that is neither renewed nor released ends with its lease",
    async ({ tokens, advance }) => {
      await tokens.acquire(lane, ids(3), threeAtOnce);
      await advance(limits.leaseMs - marginMs);
      const before = await tokens.acquire(lane, ids(1), threeAtOnce);
      await advance(2 * marginMs);
      const after = await tokens.acquire(lane, ids(5), threeAtOnce);

      expect(before.granted).toEqual([]);
      expect(after.granted).toHaveLength(3);
    },
    limits.leaseMs + marginMs,
  );

  it(
    "a renewed slot is held, and a lost one is named",
    async ({ tokens, advance }) => {
      const [kept, dropped, released] = ids(3);
      if (!kept || !dropped || !released) throw new Error("unreachable");
      await tokens.acquire(lane, [kept, dropped, released], threeAtOnce);
      await tokens.release(lane, [released]);
      await advance(limits.leaseMs / 2);
      const gone = await tokens.use(lane, [kept, released]);
      await advance(limits.leaseMs / 2 + marginMs);
      const goneLater = await tokens.use(lane, [kept, dropped]);

      expect(gone).toEqual([released]);
      expect(goneLater).toEqual([dropped]);
      expect((await tokens.acquire(lane, ids(5), threeAtOnce)).granted).toHaveLength(2);
      expect(await tokens.use(lane, [])).toEqual([]);
    },
    limits.leaseMs + marginMs,
  );

  it("a changed limit applies at once, lower or higher", async ({ tokens }) => {
    await tokens.acquire(lane, ids(2), threeAtOnce);

    const lower = await tokens.acquire(lane, ids(2), { parallelism: 1, periodMs: 1_000 });
    const higher = await tokens.acquire(lane, ids(9), { parallelism: 5, periodMs: 1_000 });

    expect(lower.granted).toEqual([]);
    expect(higher.granted).toHaveLength(3);
  });

  it("of 50 granters at once no more than the limit get a slot", async ({
    tokens,
    other = tokens,
  }) => {
    const acquired = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        (i % 2 === 0 ? tokens : other).acquire(lane, ids(2), threeAtOnce),
      ),
    );

    expect(acquired.flatMap(({ granted }) => granted)).toHaveLength(3);
  });

  it("a window begins with its first dispatch and grants up to the rate, whatever has finished", async ({
    tokens,
    now,
  }) => {
    const from = now();
    const first = await tokens.acquire(lane, ids(2), threePerTenSeconds);
    await finish(tokens, first.granted);
    const second = await tokens.acquire(lane, ids(5), threePerTenSeconds);

    const startedAt = first.window?.startedAt ?? Number.NaN;
    expect(first.granted).toHaveLength(2);
    expect(first.window?.count).toBe(2);
    expect(startedAt).toBeGreaterThanOrEqual(from - marginMs);
    expect(startedAt).toBeLessThanOrEqual(now() + marginMs);
    expect(second.granted).toHaveLength(1);
    expect(second).toMatchObject({
      window: { startedAt, count: 3 },
    });
    expect(second.opensInMs).toBeGreaterThan(10_000 - marginMs);
    expect(second.opensInMs).toBeLessThanOrEqual(10_000);
    expect((await tokens.peek(lane)).window).toEqual({ startedAt, count: 3 });
  });

  it("a window ends after its period, and the next begins with its own first dispatch", async ({
    tokens,
    advance,
  }) => {
    const short: FlowLimits = { rate: 2, periodMs: 5_000 };
    const first = await tokens.acquire(lane, ids(2), short);
    const full = await tokens.acquire(lane, ids(1), short);
    await advance(5_500);
    const next = await tokens.acquire(lane, ids(3), short);

    expect(full.granted).toEqual([]);
    expect(next.granted).toHaveLength(2);
    expect(next.window?.count).toBe(2);
    expect(next.window?.startedAt).toBeGreaterThanOrEqual((first.window?.startedAt ?? 0) + 5_000);
  }, 5_500);

  it("parallelism and rate apply together", async ({ tokens }) => {
    const both: FlowLimits = { parallelism: 2, rate: 3, periodMs: 10_000 };
    const first = await tokens.acquire(lane, ids(9), both);
    await finish(tokens, first.granted);
    const second = await tokens.acquire(lane, ids(9), both);
    await finish(tokens, second.granted);
    const third = await tokens.acquire(lane, ids(9), both);

    expect([first, second, third].map(({ granted }) => granted.length)).toEqual([2, 1, 0]);
    expect(third.opensInMs).toBeDefined();
  });

  it("a message with an unused slot gets it again without another dispatch", async ({ tokens }) => {
    const [first, second] = ids(2);
    if (!first || !second) throw new Error("unreachable");
    await tokens.acquire(lane, [first, second], threePerTenSeconds);

    const again = await tokens.acquire(lane, [first, second, ...ids(2)], threePerTenSeconds);
    const full = await tokens.acquire(lane, [first, ...ids(1)], threePerTenSeconds);

    expect(again.granted.slice(0, 2)).toEqual([first, second]);
    expect(again.granted).toHaveLength(3);
    expect(again.window?.count).toBe(3);
    expect(full.granted).toEqual([first]);
  });

  it("a slot that is released before its call begins gives its dispatch back", async ({
    tokens,
  }) => {
    const [unused, used] = ids(2);
    if (!unused || !used) throw new Error("unreachable");
    await tokens.acquire(lane, [unused, used], threePerTenSeconds);
    await tokens.use(lane, [used]);
    await tokens.release(lane, [unused, used]);
    await tokens.release(lane, [unused, used]);

    expect((await tokens.peek(lane)).window?.count).toBe(1);
    expect((await tokens.acquire(lane, ids(5), threePerTenSeconds)).granted).toHaveLength(2);
  });

  it(
    "a grant that ends unused gives its slot and its dispatch back",
    async ({ tokens, advance }) => {
      const perHour: FlowLimits = { rate: 3, parallelism: 3, periodMs: 3_600_000 };
      const [used, ...unused] = ids(3);
      if (!used) throw new Error("unreachable");
      await tokens.acquire(lane, [used, ...unused], perHour);
      await tokens.use(lane, [used]);
      await tokens.release(lane, [used]);
      await advance(limits.leaseMs + marginMs);

      const next = await tokens.acquire(lane, ids(5), perHour);

      expect(next.granted).toHaveLength(2);
      expect(next.window?.count).toBe(3);
    },
    limits.leaseMs + marginMs,
  );

  it(
    "a lane whose slot ended in use grants nothing until the running calls are restored",
    async ({ tokens, advance }) => {
      const [running, ended] = ids(2);
      if (!running || !ended) throw new Error("unreachable");
      await tokens.acquire(lane, [running, ended], threeAtOnce);
      await tokens.use(lane, [running, ended]);
      await advance(limits.leaseMs + marginMs);

      const before = await tokens.acquire(lane, ids(5), threeAtOnce);
      await tokens.restore(lane, [{ id: running, leftMs: 20_000 }], undefined);
      const after = await tokens.acquire(lane, ids(5), threeAtOnce);

      expect(before).toEqual({ granted: [], isUnknown: true });
      expect(after.granted).toHaveLength(2);
    },
    limits.leaseMs + marginMs,
  );

  it(
    "a call with a proven lease has its slot again after the slot was lost",
    async ({ tokens, advance }) => {
      const line = ids(3);
      await tokens.acquire(lane, line, threeAtOnce);
      await tokens.use(lane, line);
      await advance(limits.leaseMs + marginMs);
      await tokens.hold(lane, line);

      expect((await tokens.peek(lane)).slots).toBe(3);
      expect(await tokens.acquire(lane, ids(5), threeAtOnce)).toEqual({ granted: [] });
      expect((await tokens.acquire(lane, line, threeAtOnce)).granted).toEqual(line);
    },
    limits.leaseMs + marginMs,
  );

  it("a message without a free slot costs no dispatch", async ({ tokens }) => {
    const both: FlowLimits = { parallelism: 1, rate: 2, periodMs: 10_000 };
    const first = await tokens.acquire(lane, ids(5), both);
    for (let i = 0; i < 5; i++) await tokens.acquire(lane, ids(1), both);
    await finish(tokens, first.granted);

    expect((await tokens.acquire(lane, ids(5), both)).granted).toHaveLength(1);
  });

  for (const seed of [1, 2, 3, 4, 5]) {
    it(
      `no interleaving of granters, finishers and time exceeds parallelism or rate (seed ${seed})`,
      (harness) => interleave(harness, seed),
      stepsMax * stepMsMax,
    );
  }
}

async function finish(tokens: TokenStore, done: readonly MessageId[]): Promise<void> {
  await tokens.use(lane, done);
  await tokens.release(lane, done);
}

/** Restores the lanes before each proof, as every granter does before it asks for slots of an unknown lane. */
const onKnownLanes =
  (it: TokenGuarantee): TokenGuarantee =>
  (title, prove, waitMs) =>
    it(
      title,
      async (harness) => {
        for (const each of [lane, otherLane]) await harness.tokens.restore(each, [], undefined);
        await prove(harness);
      },
      waitMs,
    );

function strangers(it: TokenGuarantee): void {
  it("a flushed store does not know its lanes until they are restored", async ({ tokens }) => {
    const { isUnknown } = await tokens.acquire(lane, ids(1), threeAtOnce);
    await tokens.restore(lane, [], undefined);

    expect(isUnknown).toBe(true);
    expect((await tokens.acquire(lane, ids(1), threeAtOnce)).granted).toHaveLength(1);
    expect((await tokens.acquire(otherLane, ids(1), threeAtOnce)).isUnknown).toBe(true);
  });

  it("a lane counts restored holders until their time, and the window, too", async ({
    tokens,
    now,
  }) => {
    const [holder, expired] = ids(2);
    if (!holder || !expired) throw new Error("unreachable");
    const window = { startedAt: now() - 1_000, count: 2 };
    const both: FlowLimits = { parallelism: 2, rate: 3, periodMs: 60_000 };
    const holders = [
      { id: holder, leftMs: 20_000 },
      { id: expired, leftMs: -1_000 },
    ];

    await tokens.restore(lane, holders, window);

    expect(await tokens.peek(lane)).toEqual({ slots: 1, window });
    expect((await tokens.acquire(lane, ids(5), both)).granted).toHaveLength(1);
    expect((await tokens.peek(lane)).window).toEqual({ startedAt: window.startedAt, count: 3 });
    expect(await tokens.use(lane, [holder])).toEqual([]);
  });

  it("a lane that is restored by two at once, or after a grant, keeps every slot", async ({
    tokens,
    other = tokens,
  }) => {
    const [holder] = ids(1);
    if (!holder) throw new Error("unreachable");
    const holders = [{ id: holder, leftMs: 20_000 }];
    await Promise.all([
      tokens.restore(lane, holders, undefined),
      other.restore(lane, holders, undefined),
    ]);
    await tokens.acquire(lane, ids(1), threeAtOnce);
    await tokens.restore(lane, holders, undefined);

    expect((await tokens.peek(lane)).slots).toBe(2);
    expect((await tokens.acquire(lane, ids(5), threeAtOnce)).granted).toHaveLength(1);
  });

  it("a lane that is restored again keeps its later dispatches", async ({ tokens, now }) => {
    const window = { startedAt: now() - 1_000, count: 2 };
    const rate: FlowLimits = { rate: 9, periodMs: 60_000 };
    await tokens.restore(lane, [], window);
    await tokens.acquire(lane, ids(3), rate);
    await tokens.restore(lane, [], window);
    await tokens.restore(lane, [], { startedAt: window.startedAt - 60_000, count: 9 });
    await tokens.restore(lane, [], undefined);

    expect((await tokens.peek(lane)).window).toEqual({ startedAt: window.startedAt, count: 5 });
  });

  it("an unused lane has no slots and no window", async ({ tokens }) => {
    expect(await tokens.peek(lane)).toEqual({ slots: 0 });
  });

  it("an unknown lane grants nothing, and a request does not make it known", async ({ tokens }) => {
    const line = ids(2);

    const unknown = { granted: [], isUnknown: true };
    expect(await tokens.acquire(lane, line, threeAtOnce)).toEqual(unknown);
    expect(await tokens.acquire(lane, line, threePerTenSeconds)).toEqual(unknown);
    expect(await tokens.use(lane, line)).toEqual(line);
    await tokens.release(lane, line);
    expect(await tokens.peek(lane)).toEqual({ slots: 0 });
    expect(await tokens.acquire(lane, line, threeAtOnce)).toEqual(unknown);
  });
}

/** Clocks of stores need not count single milliseconds, and clocks that cannot be moved run on during other proofs. */
const marginMs = 5_000;
const stepsMax = 40;
const stepMsMax = 200;

/** Runs up to eight granters and finishers at a time; after each step the counts must agree. */
async function interleave(harness: TokenStoreHarness, seed: number): Promise<void> {
  const { tokens, other = tokens, advance } = harness;
  const { integer, pick, chance, shuffled } = dice(seed);
  const flow: FlowLimits = {
    parallelism: integer(1, 4),
    rate: integer(1, 6),
    periodMs: integer(100, 700),
  };
  const running = new Set<MessageId>();
  const dispatches = new Map<number, number>();

  const grant = async (): Promise<void> => {
    const { granted, window } = await pick([tokens, other]).acquire(lane, ids(integer(1, 5)), flow);
    for (const id of granted) running.add(id);
    if (granted.length > 0 && window)
      dispatches.set(window.startedAt, (dispatches.get(window.startedAt) ?? 0) + granted.length);
  };
  const end = async (): Promise<void> => {
    const done = shuffled([...running]).slice(0, integer(1, 3));
    for (const id of done) running.delete(id);
    await finish(pick([tokens, other]), done);
  };

  for (let step = 0; step < stepsMax; step++) {
    await Promise.all(Array.from({ length: integer(1, 8) }, () => (chance(0.6) ? grant() : end())));
    expect(running.size).toBeLessThanOrEqual(flow.parallelism ?? 0);
    expect((await tokens.peek(lane)).slots).toBe(running.size);
    await advance(integer(0, stepMsMax));
  }

  expect(Math.max(...dispatches.values())).toBeLessThanOrEqual(flow.rate ?? 0);
  const starts = [...dispatches.keys()].toSorted((a, b) => a - b);
  for (const [i, startedAt] of starts.entries()) {
    if (i > 0) expect(startedAt - (starts[i - 1] ?? 0)).toBeGreaterThanOrEqual(flow.periodMs);
  }
}
