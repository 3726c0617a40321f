/** Outages of a Redis that this file starts. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { flowLaneId, type FlowLimits, limits } from "@posthaste/domain";
import { openProxy, type RunningRedis, startRedis } from "@posthaste/local";
import { aKey, aTenant, newId } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { Redis } from "ioredis";
import { clock, type Opened, openTokens, until, untilUp } from "./opened.fixture.ts";
import { type RedisTokens } from "./redis-tokens.ts";

jest.setTimeout(300_000);

const lane = flowLaneId(aTenant, "lane");
const otherLane = flowLaneId(aTenant, "other");
const threeAtOnce: FlowLimits = { parallelism: 3, periodMs: 1_000 };
const ids = (count: number) => Array.from({ length: count }, () => newId());

let redis: RunningRedis;
let admin: Redis;
let opened: Opened[];

beforeEach(async () => {
  redis = await startRedis({ dir: temporaryFolder() });
  admin = new Redis(redis.url);
  admin.on("error", () => undefined);
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((tokens) => tokens.close()));
  admin.disconnect();
  await redis.process.stop();
});

function open(...[url = redis.url, options]: Partial<Parameters<typeof openTokens>>): Opened {
  const tokens = openTokens(url, options);
  opened.push(tokens);
  return tokens;
}

async function openUp(...args: Parameters<typeof open>): Promise<Opened> {
  const tokens = open(...args);
  await untilUp(tokens);
  return tokens;
}

const everyCall = (tokens: RedisTokens): readonly (() => Promise<unknown>)[] => {
  const entry = { key: aKey("a"), id: newId() };
  return [
    () => tokens.claim([entry]),
    () => tokens.confirm([entry]),
    () => tokens.acquire(lane, ids(1), threeAtOnce),
    () => tokens.use(lane, ids(1)),
    () => tokens.hold(lane, []),
    () => tokens.release(lane, ids(1)),
    () => tokens.restore(lane, [], undefined),
    () => tokens.resetRate(lane),
    () => tokens.peek(lane),
  ];
};

const unavailable = { name: "StoreError", code: "unavailable" };

async function expectAllRefused(tokens: RedisTokens): Promise<void> {
  for (const call of everyCall(tokens)) await expect(call()).rejects.toMatchObject(unavailable);
}

async function expectAllAnswered(tokens: RedisTokens): Promise<void> {
  for (const call of everyCall(tokens)) await call();
}

/** Waits for three more tries, so that the last two had nothing new to log. */
async function untilTriedAgain(tokens: RedisTokens): Promise<void> {
  const { tries } = tokens.counts();
  await until("it is tried again", () => tokens.counts().tries >= tries + 3);
}

async function pauseRedis(): Promise<void> {
  redis.process.pause();
  const stat = `/proc/${redis.process.pid}/stat`;
  await until("it stands still", () => readFileSync(stat, "utf8").includes(") T "));
}

const reasonsOf = ({ log }: Opened): readonly unknown[] =>
  log.lines.filter(({ event }) => event === "tokens.down").map(({ fields }) => fields["reason"]);

describe("a Redis that is away", () => {
  it("refuses every call at once from a store that was opened meanwhile, and is found when it comes", async () => {
    await redis.process.kill();
    const tokens = open();
    await expectAllRefused(tokens);
    await until("it is known why", () => tokens.problem()?.includes("ECONNREFUSED") === true);
    await expectAllRefused(tokens);

    expect(tokens.isUp()).toBe(false);
    expect(tokens.counts()).toMatchObject({
      calls: 0,
      refused: 2 * everyCall(tokens).length,
      connections: 0,
    });
    await redis.process.restart();
    await untilUp(tokens);
    await expectAllAnswered(tokens);
  });

  it("is noticed when it dies, found again after its return, and each change is reported once", async () => {
    const tokens = await openUp();
    await redis.process.kill();
    await until("its death is noticed", () => !tokens.isUp());
    await expectAllRefused(tokens);
    await untilTriedAgain(tokens);
    await redis.process.restart();
    await untilUp(tokens);

    await expectAllAnswered(tokens);
    expect(tokens.counts().connections).toBe(2);
    const reasons = reasonsOf(tokens);
    expect(reasons).toEqual([...new Set(reasons)]);
    expect(tokens.log.events().filter((event) => event === "tokens.up")).toHaveLength(2);
  });

  it("answers every call that was running when it died", async () => {
    const tokens = await openUp();
    await pauseRedis();
    const calls = Promise.allSettled(everyCall(tokens).map((call) => call()));
    await until("they are under way", () => tokens.counts().calls >= 8);
    await redis.process.kill();

    for (const call of await calls)
      expect(call).toMatchObject({ status: "rejected", reason: unavailable });
  });

  it("does not keep a store from closing, whether it was found before or not", async () => {
    const found = await openUp();
    await pauseRedis();
    const [searching, tired] = [open(), open()];
    await until("a search takes long", () => tired.counts().tries > 1);
    const stores = [found, searching, tired];

    await Promise.all(stores.map((tokens) => tokens.close()));

    expect(stores.map((tokens) => tokens.problem())).toEqual(["closed", "closed", "closed"]);
    for (const tokens of stores) await expectAllRefused(tokens);
  });
});

describe("a Redis that does not answer", () => {
  it("costs each call its budget, then gets no call until it answers again", async () => {
    const tokens = await openUp(redis.url, { budgetMs: 50 });
    await pauseRedis();
    await until("it counts as away", async () => {
      await expectAllRefused(tokens);
      return !tokens.isUp();
    });
    const { calls } = tokens.counts();
    await expectAllRefused(tokens);

    expect(tokens.counts().calls).toBe(calls);
    redis.process.resume();
    await until("a claim is answered", async () => {
      const entry = { key: aKey("b"), id: newId() };
      const answer = await tokens.claim([entry]).catch(() => undefined);
      return answer !== undefined;
    });
  });

  it("is not given up for a single pause, whatever was under way", async () => {
    const tokens = await openUp(redis.url, { budgetMs: 500 });
    await pauseRedis();
    const calls = await Promise.allSettled(everyCall(tokens).map((call) => call()));
    redis.process.resume();

    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => "rejected"));
    expect(tokens.isUp()).toBe(true);
    expect(tokens.counts().connections).toBe(1);
  });
});

describe("a Redis that has forgotten", () => {
  it("everything grants nothing before it learns the records, and then the slots that are left", async () => {
    const tokens = await openUp();
    const holders = ids(2);
    await tokens.restore(lane, [], undefined);
    await tokens.acquire(lane, holders, threeAtOnce);
    await admin.flushall();

    const unknown = { granted: [], isUnknown: true };
    expect(await tokens.acquire(lane, ids(5), threeAtOnce)).toEqual(unknown);
    expect(await tokens.use(lane, holders)).toEqual(holders);
    expect(await tokens.acquire(lane, ids(5), threeAtOnce)).toEqual(unknown);
    await tokens.restore(
      lane,
      holders.map((id) => ({ id, leftMs: 25_000 })),
      undefined,
    );
    expect((await tokens.acquire(lane, ids(5), threeAtOnce)).granted).toHaveLength(1);
  });

  it("perhaps only its last second is restored once more, and keeps the slots that it still has", async () => {
    const tokens = await openUp();
    const entry = { key: aKey("a"), id: newId() };
    const [kept, forgotten] = [newId(), newId()];
    await tokens.claim([entry]);
    await tokens.confirm([entry]);
    await tokens.restore(lane, [], undefined);
    await tokens.acquire(lane, [kept], threeAtOnce);
    await redis.process.restart();
    await until("the new one is found", () => tokens.isUp() && tokens.counts().connections > 1);

    expect(await tokens.claim([{ ...entry, id: newId() }])).toEqual([
      { kind: "done", id: entry.id },
    ]);
    expect(await tokens.acquire(lane, ids(5), threeAtOnce)).toMatchObject({ isUnknown: true });
    expect(await tokens.use(lane, [kept, forgotten])).toEqual([forgotten]);
    await tokens.restore(lane, [{ id: forgotten, leftMs: 25_000 }], undefined);
    expect((await tokens.peek(lane)).slots).toBe(2);
    expect((await tokens.acquire(lane, ids(5), threeAtOnce)).granted).toHaveLength(1);
  });

  it("believes no time that its own clock has not reached", async () => {
    const tokens = await openUp();
    const holder = newId();
    const later = clock.now() + 3_600_000;
    await tokens.restore(lane, [{ id: holder, leftMs: 3_600_000 }], { startedAt: later, count: 1 });
    const { slots, window } = await tokens.peek(lane);
    const [key = ""] = await admin.keys("*slots*");
    const endsAt = Number(await admin.zscore(key, holder));

    expect(slots).toBe(1);
    expect(endsAt).toBeLessThanOrEqual(clock.now() + limits.leaseMs);
    expect(window).toBeUndefined();
  });

  it("our scripts gets them again", async () => {
    const tokens = await openUp();
    await expectAllAnswered(tokens);
    await admin.script("FLUSH");

    await expectAllAnswered(tokens);

    expect(tokens.counts().failed).toBe(0);
  });
});

describe("a Redis that cannot do the work", () => {
  it("because it evicts is refused in one line that names its policy, until it does not", async () => {
    await admin.config("SET", "maxmemory-policy", "allkeys-lru");
    const tokens = open();
    await until("it is refused", () => tokens.problem()?.includes("allkeys-lru") === true);
    await expectAllRefused(tokens);
    await untilTriedAgain(tokens);

    expect(tokens.counts().calls).toBe(0);
    expect(reasonsOf(tokens)).toEqual([
      "the maxmemory-policy is allkeys-lru and must be noeviction",
    ]);
    await admin.config("SET", "maxmemory-policy", "noeviction");
    await untilUp(tokens);
  });

  it("may keep its eviction policy to itself: that is a warning", async () => {
    await admin.acl("SETUSER", "default", "-config");
    const tokens = await openUp();

    await expectAllAnswered(tokens);
    expect(tokens.log.lines).toContainEqual(
      expect.objectContaining({ level: "warn", event: "tokens.eviction-unknown" }),
    );
  });

  it("because it takes no writes counts as away until it does", async () => {
    const tokens = await openUp();
    await admin.replicaof("127.0.0.1", "1");
    const late = open();
    await until("it is refused", () => late.problem()?.includes("READONLY") === true);
    await until("it counts as away", async () => {
      await expect(tokens.restore(lane, [], undefined)).rejects.toMatchObject(unavailable);
      return tokens.problem()?.includes("READONLY") === true;
    });
    expect(late.counts()).toMatchObject({ calls: 0, connections: 0 });
    await admin.replicaof("NO", "ONE");
    await Promise.all([untilUp(tokens), untilUp(late)]);

    await expectAllAnswered(tokens);
  });
});

describe("a call whose answer was lost", () => {
  it("may be repeated: no slot is lost by it, and none given twice", async () => {
    const proxy = await openProxy({ to: redis });
    const [tokens, other] = await Promise.all([
      openUp(`redis://127.0.0.1:${proxy.port}`, { prefix: "p:" }),
      openUp(redis.url, { prefix: "p:" }),
    ]);
    const entry = { key: aKey("a"), id: newId() };
    const [first, second, third] = [newId(), newId(), newId()];
    const holders = [{ id: first, leftMs: 25_000 }];
    const twice = async <T>(call: () => Promise<T>): Promise<T> => {
      const { connections } = tokens.counts();
      proxy.loseReplies(() => true);
      await expect(call()).rejects.toMatchObject(unavailable);
      proxy.loseReplies(() => false);
      await until("it is back", () => tokens.isUp() && tokens.counts().connections > connections);
      return call();
    };

    expect(await twice(() => tokens.claim([entry]))).toEqual([{ kind: "mine" }]);
    await twice(() => tokens.confirm([entry]));
    await twice(() => tokens.restore(lane, holders, undefined));
    const line = [second, third, newId()];
    const acquired = await twice(() => tokens.acquire(lane, line, threeAtOnce));
    const gone = await twice(() => tokens.use(lane, [first, second, third]));

    expect(acquired.granted).toEqual([second, third]);
    expect(gone).toEqual([]);
    expect((await other.peek(lane)).slots).toBe(3);
    expect((await other.acquire(lane, ids(5), threeAtOnce)).granted).toEqual([]);
    await twice(() => tokens.release(lane, [first, second]));
    expect((await other.peek(lane)).slots).toBe(1);
    expect(await other.claim([{ ...entry, id: newId() }])).toEqual([
      { kind: "done", id: entry.id },
    ]);
    await proxy.close();
  });
});

describe("leftovers", () => {
  const hasEnded = -2;

  it("ends by itself, all of it, within a day", async () => {
    const tokens = await openUp();
    await expectAllAnswered(tokens);
    await tokens.claim([{ key: aKey("pending"), id: newId() }]);
    await tokens.acquire(lane, ids(3), { ...threeAtOnce, rate: 5 });
    await tokens.restore(otherLane, [], { startedAt: clock.now(), count: 1 });

    const keys = await admin.keys("*");
    const endsInMs = await Promise.all(keys.map((key) => admin.pttl(key)));
    const left = endsInMs.filter((ms) => ms !== hasEnded);

    expect(left.length).toBeGreaterThanOrEqual(5);
    expect(Math.min(...left)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...left)).toBeLessThanOrEqual(86_400_000);
  });
});
