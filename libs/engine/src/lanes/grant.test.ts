import { describe, expect, it } from "@jest/globals";
import {
  allShards,
  type FlowLane,
  flowLaneId,
  type FlowLimits,
  limits,
  type MessageId,
  owner,
  settleAttempt,
} from "@posthaste/domain";
import { type FlowLanes } from "@posthaste/ports";
import { anAnswer, anAttempt, aTenant, dice } from "@posthaste/testing";
import { grant } from "./grant.ts";
import { insert, listen, open, type Ports, read, rest } from "../opened.fixture.ts";

const key = "tight";
const lane = flowLaneId(aTenant, key);
const minuteMs = 60_000;

async function insertInLine(
  ports: Ports,
  count: number,
  flowLimits: FlowLimits,
): Promise<readonly MessageId[]> {
  const ids: MessageId[] = [];
  for (let i = 0; i < count; i++)
    ids.push((await insert(ports, { flow: { key, limits: flowLimits } })).id);
  return ids;
}

async function laneOf({ flowLanes }: Ports): Promise<FlowLane> {
  const [row] = await flowLanes.rows([lane]);
  if (!row) throw new Error("the lane is not there");
  return row;
}

async function inState(
  ports: Ports,
  ids: readonly MessageId[],
  kind: string,
): Promise<readonly MessageId[]> {
  const records = await ports.records.get(aTenant, ids);
  return records.flatMap((record) => (record?.state.kind === kind ? [record.message.id] : []));
}

/** Claims, calls, settles and gives the slot back, as a deliverer would. */
async function deliver(ports: Ports, id: MessageId): Promise<void> {
  const [record] = await ports.records.claim([id], owner("test"));
  if (!record) throw new Error(`${id} could not be claimed`);
  await ports.tokens.use(lane, [id]);
  const attempt = anAttempt(anAnswer(200), { endedAt: ports.clock.now() });
  await ports.records.settle([settleAttempt(record, attempt, { chance: 0, retryDelayMs: 0 })]);
  await ports.tokens.release(lane, [id]);
}

/** Returns ports whose token store knows nothing, as after a restart. */
const flushed = (ports: Ports): Ports => ({ ...ports, tokens: open(ports.clock).tokens });

const withFlowLanes = (ports: Ports, flowLanes: Partial<FlowLanes>): Ports => ({
  ...ports,
  flowLanes: { ...ports.flowLanes, ...flowLanes },
});

function first<T>(then: () => Promise<T>): () => Promise<void> {
  let done = false;
  return async () => {
    if (done) return;
    done = true;
    await then();
  };
}

describe("a grant by parallelism", () => {
  const two: FlowLimits = { parallelism: 2, periodMs: 1_000 };

  it("promotes the first in line, as many as slots are free, hints them, and looks again in 30 s at the latest", async () => {
    const ports = open();
    const ids = await insertInLine(ports, 4, two);
    const heard = await listen(ports);

    const wakeAt = await grant(ports, lane);
    await rest(ports);

    expect(await inState(ports, ids, "due")).toEqual(ids.slice(0, 2));
    expect(heard.due.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(wakeAt).toBe(ports.clock.now() + limits.grantMs);
    expect((await laneOf(ports)).wakeAt).toBe(wakeAt);
  });

  it("promotes the next when a slot is given back", async () => {
    const ports = open();
    const [a = fail(), b = fail(), c = fail()] = await insertInLine(ports, 3, two);
    await grant(ports, lane);

    await deliver(ports, b);
    await grant(ports, lane);

    expect(await inState(ports, [a, b, c], "due")).toEqual([a, c]);
  });

  it("leaves the lane without an alarm when nothing is left in line", async () => {
    const ports = open();
    await insertInLine(ports, 2, two);
    await grant(ports, lane);

    for (const { id } of await ports.flowLanes.slotHolders(lane)) await deliver(ports, id);
    await grant(ports, lane);

    expect((await laneOf(ports)).wakeAt).toBeUndefined();
  });

  it("promotes all of a long line that only its batches limit", async () => {
    const ports = open();
    const wide: FlowLimits = { rate: 1_000_000, periodMs: 1_000 };
    const ids = await insertInLine(ports, 2 * limits.grantBatchMax + 1, wide);

    await grant(ports, lane);

    expect(await inState(ports, ids, "due")).toHaveLength(ids.length);
  });

  it("does nothing for a lane that no message has ever stood in", async () => {
    expect(await grant(open(), lane)).toBeUndefined();
  });

  it("reads nothing for a lane at rest: a message in line would have set its alarm", async () => {
    const ports = open();
    const [id = fail()] = await insertInLine(ports, 1, two);
    await grant(ports, lane);
    await deliver(ports, id);
    const asked: string[] = [];
    const asking = withFlowLanes(ports, {
      heads: async (...args) => {
        asked.push("heads");
        return ports.flowLanes.heads(...args);
      },
    });

    await grant(asking, lane);
    expect(asked).toEqual([]);

    await insertInLine(ports, 1, two);
    await grant(asking, lane);
    expect(asked).toEqual(["heads"]);
  });

  it("gives a slot back whose message has left the line meanwhile, and the next in line gets it", async () => {
    const ports = open();
    const [a = fail(), b = fail(), c = fail()] = await insertInLine(ports, 3, two);
    const cancelling = first(() => ports.records.cancel(aTenant, [a]));
    const racing = withFlowLanes(ports, {
      promote: async (...args) => {
        await cancelling();
        return ports.flowLanes.promote(...args);
      },
    });

    await grant(racing, lane);

    expect(await inState(ports, [b, c], "due")).toEqual([b, c]);
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 2 });
  });

  it("leaves a slot alone whose message another granter has promoted meanwhile", async () => {
    const ports = open();
    const ids = await insertInLine(ports, 3, two);
    const racing = withFlowLanes(ports, {
      promote: async (...args) => {
        await ports.flowLanes.promote(...args);
        return ports.flowLanes.promote(...args);
      },
    });

    await grant(racing, lane);
    await grant(ports, lane);

    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 2 });
    expect(await inState(ports, ids, "due")).toEqual(ids.slice(0, 2));
  });

  it("holds after a flush of the token store, which learns the holders of slots from the records", async () => {
    const ports = open();
    const [a = fail(), b = fail(), c = fail()] = await insertInLine(ports, 3, two);
    await grant(ports, lane);
    await ports.records.claim([a], owner("test"));

    await grant(flushed(ports), lane);

    expect(await inState(ports, [a, b, c], "waiting")).toEqual([c]);
  });
});

describe("a grant by rate", () => {
  const twoAMinute: FlowLimits = { rate: 2, periodMs: minuteMs };

  it("promotes no more than the rate in a window, and sets the alarm to when it opens again", async () => {
    const ports = open();
    const ids = await insertInLine(ports, 5, twoAMinute);
    const startedAt = ports.clock.now();

    const wakeAt = await grant(ports, lane);
    expect(await inState(ports, ids, "due")).toEqual(ids.slice(0, 2));
    for (const id of ids.slice(0, 2)) await deliver(ports, id);
    await ports.clock.advance(20_000);
    const later = await grant(ports, lane);

    expect(await inState(ports, ids, "waiting")).toEqual(ids.slice(2));
    // A granter without a free slot looks again after 30 s at the latest, or when the window opens, if that is sooner.
    expect(wakeAt).toBe(startedAt + limits.grantMs);
    expect(later).toBe(startedAt + 20_000 + limits.grantMs);
    await ports.clock.advance(20_000);
    const last = await grant(ports, lane);
    expect(last).toBe(startedAt + minuteMs);
    expect((await laneOf(ports)).wakeAt).toBe(last);
    await ports.clock.advance(20_000);
    await grant(ports, lane);
    expect(await inState(ports, ids, "due")).toEqual(ids.slice(2, 4));
  });

  it("holds after a flush of the token store, which is given the window", async () => {
    const ports = open();
    const ids = await insertInLine(ports, 3, twoAMinute);
    await grant(ports, lane);

    await grant(flushed(ports), lane);

    expect(await inState(ports, ids, "waiting")).toEqual(ids.slice(2));
  });

  it("holds after a flush although a message got into line while the window was used up", async () => {
    const ports = open();
    const ids = await insertInLine(ports, 3, twoAMinute);
    const newcomer = first(() => insertInLine(ports, 1, twoAMinute));
    const racing = withFlowLanes(ports, {
      promote: async (...args) => {
        await newcomer();
        return ports.flowLanes.promote(...args);
      },
    });
    await grant(racing, lane);

    await grant(flushed(ports), lane);

    expect(await inState(ports, ids, "waiting")).toEqual(ids.slice(2));
  });
});

describe("a grant that is not claimed", () => {
  const perHour: FlowLimits = { rate: 500, periodMs: 60 * minuteMs };
  const slots = 60;

  it("costs no rate: five hundred an hour arrive within the hour, however few run at once", async () => {
    const ports = open();
    const ids = await insertInLine(ports, 500, perHour);
    const startedAt = ports.clock.now();
    const callMs = 20_000;

    // As with a deliverer that has fewer slots than grants: unused grants expire.
    let arrived = 0;
    while (arrived < ids.length && ports.clock.now() < startedAt + 60 * minuteMs) {
      await ports.alarms.ring(allShards, 500);
      await grant(ports, lane);
      const due = (await inState(ports, ids, "due")).slice(0, slots);
      const records = await ports.records.claim(due, owner("test"));
      await ports.tokens.use(lane, due);
      await ports.clock.advance(callMs);
      for (const record of records) {
        const attempt = anAttempt(anAnswer(200), { endedAt: ports.clock.now() });
        await ports.records.settle([
          settleAttempt(record, attempt, { chance: 0, retryDelayMs: 0 }),
        ]);
      }
      await ports.tokens.release(lane, due);
      arrived += records.length;
    }

    expect(arrived).toBe(500);
  });

  it("ends the wait of the messages behind it by the token store's own clock", async () => {
    const ports = open();
    await insertInLine(ports, 3, { rate: 1, periodMs: 10_000 });
    const hourAhead = 3_600_000;
    const { tokens } = ports;
    const elsewhere: Ports = {
      ...ports,
      tokens: {
        ...tokens,
        acquire: async (...args) => {
          const { window, ...acquired } = await tokens.acquire(...args);
          return {
            ...acquired,
            ...(window && { window: { ...window, startedAt: window.startedAt + hourAhead } }),
          };
        },
      },
    };

    expect(await grant(elsewhere, lane)).toBe(ports.clock.now() + 10_000);
  });
});

describe("a message that gets into line while the lane is granted", () => {
  const wide: FlowLimits = { parallelism: 10, periodMs: 1_000 };
  const calls = ["rows", "heads", "promote"] as const;

  it.each(calls)("is granted, too, when that is right after `%s`", async (call) => {
    const ports = open();
    const ids = [...(await insertInLine(ports, 1, wide))];
    const arrive = first(async () => ids.push(...(await insertInLine(ports, 1, wide))));
    const { flowLanes } = ports;
    const then = async <T>(answered: Promise<T>): Promise<T> => {
      const answer = await answered;
      await arrive();
      return answer;
    };
    const wrapped: Readonly<Record<typeof call, Partial<FlowLanes>>> = {
      rows: { rows: (...args) => then(flowLanes.rows(...args)) },
      heads: { heads: (...args) => then(flowLanes.heads(...args)) },
      promote: { promote: (...args) => then(flowLanes.promote(...args)) },
    };

    await grant(withFlowLanes(ports, wrapped[call]), lane);

    expect(await inState(ports, ids, "due")).toEqual(ids);
  });

  it("is granted when the line was found empty just before", async () => {
    const ports = open();
    const [gone = fail()] = await insertInLine(ports, 1, wide);
    await ports.records.cancel(aTenant, [gone]);
    const ids: MessageId[] = [];
    const arrive = first(async () => ids.push(...(await insertInLine(ports, 1, wide))));
    const racing = withFlowLanes(ports, {
      heads: async (...args) => {
        const heads = await ports.flowLanes.heads(...args);
        await arrive();
        return heads;
      },
    });

    await grant(racing, lane);

    expect(ids).toHaveLength(1);
    expect(await inState(ports, ids, "due")).toEqual(ids);
  });

  it("has the lane woken again when the grant has taken twenty rounds", async () => {
    const ports = open();
    await insertInLine(ports, 1, wide);
    const heard = await listen(ports);
    const endless = withFlowLanes(ports, { rest: async () => false });

    await grant(endless, lane);
    await rest(ports);

    expect(heard.wakes).toEqual([
      { shard: (await laneOf(ports)).shard, at: ports.clock.now(), lane },
    ]);
  });
});

describe("grants that interleave", () => {
  const both: FlowLimits = { parallelism: 3, rate: 5, periodMs: minuteMs };

  /** Returns ports in which every call of a store yields for some turns, before and after. */
  function jittered<T extends object>(ports: T, pause: () => Promise<void>): T {
    return new Proxy(ports, {
      get: (target, name, receiver): unknown => {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]): Promise<unknown> => {
          await pause();
          const answer: unknown = await Reflect.apply(value, target, args);
          await pause();
          return answer;
        };
      },
    });
  }

  it.each(Array.from({ length: 25 }, (_, seed) => seed))(
    "exceed neither parallelism nor rate, and leave no message in line for ever (seed %i)",
    async (seed) => {
      const ports = open();
      const chance = dice(seed);
      const pause = async (): Promise<void> => {
        for (let turns = chance.integer(0, 6); turns > 0; turns--) await Promise.resolve();
      };
      const dispatchedAt: number[] = [];
      let holdersMost = 0;
      const promote: FlowLanes["promote"] = async (...args) => {
        const hints = await ports.flowLanes.promote(...args);
        holdersMost = Math.max(holdersMost, (await ports.flowLanes.slotHolders(lane)).length);
        return hints;
      };
      const deliverNoted: typeof deliver = async (by, id) => {
        dispatchedAt.push(ports.clock.now());
        await deliver(by, id);
      };
      const flowLanes = jittered({ ...ports.flowLanes, promote }, pause);
      const racing = { ...ports, flowLanes, tokens: jittered(ports.tokens, pause) };
      const ids = [...(await insertInLine(ports, 8, both))];

      for (let round = 0; round < 8; round++) {
        const holders = await ports.flowLanes.slotHolders(lane);
        await Promise.all([
          ...Array.from({ length: 3 }, () => grant(racing, lane)),
          ...holders.filter(() => chance.chance(0.7)).map(({ id }) => deliverNoted(racing, id)),
          chance.chance(0.5) && insertInLine(ports, 1, both).then((more) => ids.push(...more)),
        ]);
        await ports.clock.advance(chance.integer(0, 20_000));
      }
      for (let round = 0; round < 20; round++) {
        for (const { id } of await ports.flowLanes.slotHolders(lane)) await deliverNoted(ports, id);
        await ports.clock.advance(limits.grantMs);
        await ports.alarms.ring([(await laneOf(ports)).shard], 100);
        await grant(ports, lane);
      }

      expect(holdersMost).toBeLessThanOrEqual(3);
      for (const at of dispatchedAt) {
        const window = dispatchedAt.filter((other) => other >= at && other < at + minuteMs);
        // Windows are fixed, and a call may begin as late as its grant ends, so three windows may touch.
        expect(window.length).toBeLessThanOrEqual(3 * 5);
      }
      expect(await inState(ports, ids, "delivered")).toHaveLength(
        (await Promise.all(ids.map((id) => read(ports, { id, tenant: aTenant })))).filter(Boolean)
          .length,
      );
      expect(await ports.flowLanes.heads(lane, 10)).toEqual([]);
    },
  );
});

function fail(): never {
  throw new Error("there are fewer messages than the test asks for");
}
