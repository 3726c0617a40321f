/** A Redis Cluster that this file starts: the contract, slots that move, masters that die. */
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from "@jest/globals";
import { type FlowId, flowLaneId, type FlowLimits } from "@posthaste/domain";
import {
  nodeIdOf,
  type RunningRedis,
  type RunningRedisCluster,
  startRedisCluster,
} from "@posthaste/local";
import { systemRandom } from "@posthaste/process";
import { aKey, aTenant, newId } from "@posthaste/testing";
import { describeTokenStore, type TokenStoreHarness } from "@posthaste/testing/contract";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { Redis } from "ioredis";
import { clock, type Opened, openTokens, until, untilUp, wait } from "../opened.fixture.ts";
import { slotOf } from "./hash-slot.ts";

jest.setTimeout(300_000);

/** Bounds the waits for the host's clock, none longer than for a lease or a pending key. */
const waitMsMax = 40_000;
const three: FlowLimits = { parallelism: 3, periodMs: 1_000 };
const ids = (count: number) => Array.from({ length: count }, () => newId());
const unavailable = { name: "StoreError", code: "unavailable" };
const prefix = () => `test-${systemRandom().text(12)}:`;

let cluster: RunningRedisCluster;
let admins: Redis[];
let opened: Opened[];

const start =
  (options: { readonly hasReplicas?: boolean } = {}) =>
  async () => {
    cluster = await startRedisCluster({ dir: temporaryFolder(), masters: 3, ...options });
  };

const stop = async (): Promise<void> => {
  await cluster.stop();
};

beforeEach(() => {
  [opened, admins] = [[], []];
});

afterEach(closeOpened);

async function closeOpened(): Promise<void> {
  await Promise.all(opened.map((tokens) => tokens.close()));
  for (const admin of admins) admin.disconnect();
}

async function openUp(options: Parameters<typeof openTokens>[1] = {}): Promise<Opened> {
  const tokens = openTokens(cluster.url, { mode: "cluster", ...options });
  opened.push(tokens);
  await untilUp(tokens);
  return tokens;
}

function adminOf({ url }: RunningRedis): Redis {
  const admin = new Redis(url, { retryStrategy: () => null });
  admin.on("error", () => undefined);
  admins.push(admin);
  return admin;
}

const ownerOf = (slot: number): RunningRedis => {
  const at = cluster.masters.findIndex((_, i) => slot < Math.floor(((i + 1) * 16_384) / 3));
  const owner = cluster.masters[at];
  if (owner === undefined) throw new Error("each slot has an owner");
  return owner;
};

type Key = ReturnType<typeof aKey>;

function threeOfOneSlot(nameOf: (key: Key) => string): readonly [Key, Key, Key] {
  const bySlot = new Map<number, Key[]>();
  for (let i = 0; ; i++) {
    const key = aKey(`${i}`);
    const slot = slotOf(nameOf(key));
    const [first, second] = bySlot.get(slot) ?? [];
    if (first !== undefined && second !== undefined) return [first, second, key];
    bySlot.set(slot, [...(bySlot.get(slot) ?? []), key]);
  }
}

const laneSlot = (lane: FlowId): number => slotOf(`{${lane}}`);

function laneOn(master: RunningRedis | undefined, name: string): FlowId {
  for (let i = 0; ; i++) {
    const lane = flowLaneId(aTenant, `${name}-${i}`);
    if (ownerOf(laneSlot(lane)) === master) return lane;
  }
}

/** Begins to move the keys of one slot: half of the work of `move`. */
async function beginMove(slot: number, from: RunningRedis, to: RunningRedis): Promise<void> {
  await adminOf(to).cluster("SETSLOT", slot, "IMPORTING", await nodeIdOf(from));
  await adminOf(from).cluster("SETSLOT", slot, "MIGRATING", await nodeIdOf(to));
}

const carry = async (keys: readonly string[], from: RunningRedis, to: RunningRedis) =>
  adminOf(from).migrate(to.host, to.port, "", 0, 5_000, "KEYS", ...keys);

async function endMove(slot: number, from: RunningRedis, to: RunningRedis): Promise<void> {
  const keys = await adminOf(from).cluster("GETKEYSINSLOT", slot, 1_000);
  if (Array.isArray(keys) && keys.length > 0) await carry(keys.map(String), from, to);
  for (const node of [to, from])
    await adminOf(node).cluster("SETSLOT", slot, "NODE", await nodeIdOf(to));
}

describe("with masters alone", () => {
  beforeAll(start(), 120_000);
  afterAll(stop);

  async function open(): Promise<TokenStoreHarness> {
    const ofBoth = { prefix: prefix(), mode: "cluster" } as const;
    const [tokens, other] = [openTokens(cluster.url, ofBoth), openTokens(cluster.url, ofBoth)];
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

  describeTokenStore("Redis Cluster", open, waitMsMax);

  it("puts each key into the slot that the cluster puts it into", async () => {
    const [first] = cluster.masters;
    if (first === undefined) throw new Error("there are three masters");
    const admin = adminOf(first);
    const keys = Array.from({ length: 200 }, (_, i) => `${"{é}".slice(i % 4)}${newId()}}${i}`);

    const told = await Promise.all(keys.map((key) => admin.cluster("KEYSLOT", key)));

    expect(keys.map(slotOf)).toEqual(told);
  });

  it("gets one call a slot for the requests of one turn, and each caller gets its own answers", async () => {
    const tokens = await openUp();
    const entries = Array.from({ length: 60 }, (_, i) => ({ key: aKey(`${i}`), id: newId() }));
    await tokens.claim(entries.slice(0, 10));
    const before = tokens.counts().calls;

    const answers = await Promise.all([
      ...entries.map(({ key }) => tokens.claim([{ key, id: newId() }])),
      tokens.claim(entries.slice(0, 20).map(({ key, id }) => ({ key, id }))),
    ]);

    expect(tokens.counts().calls - before).toBeLessThanOrEqual(60);
    expect(
      answers
        .slice(0, 60)
        .flat()
        .map((answer) => ("id" in answer ? answer.id : "mine")),
    ).toEqual(entries.map(({ id }, i) => (i < 10 ? id : "mine")));
    expect(answers[60]?.map(({ kind }) => kind).slice(0, 10)).toEqual(Array(10).fill("mine"));
  });

  it("is no single server, and says so to a process that names it as one", async () => {
    const [first = cluster.masters[0]] = cluster.masters.filter(
      (master) => master !== ownerOf(slotOf("{single:tokens}:probe")),
    );
    const tokens = openTokens(first?.url ?? "", { prefix: "single:" });
    opened.push(tokens);

    await until("it is said", () => tokens.problem()?.includes("node of a Redis Cluster") === true);
    await expect(tokens.claim([{ key: aKey("a"), id: newId() }])).rejects.toMatchObject(
      unavailable,
    );
  });

  it("answers each deduplication key while its slot moves, from where the key is", async () => {
    const tokens = await openUp();
    const key = aKey(newId());
    const root = /* the key's name */ `${tokens.prefix}tokens:window:${key}`;
    const slot = slotOf(root);
    const [from, to] = [ownerOf(slot), ownerOf((slot + 6_000) % 16_384)];
    const [first, second] = ids(2);
    if (first === undefined || second === undefined) throw new Error("two ids");
    await tokens.claim([{ key, id: first }]);

    await beginMove(slot, from, to);
    const stays = await tokens.claim([{ key, id: second }]);
    await carry([root], from, to);
    const moved = await tokens.claim([{ key, id: second }]);
    await tokens.confirm([{ key, id: first }]);
    await endMove(slot, from, to);
    const after = await tokens.claim([{ key, id: second }]);

    expect([stays, moved, after].flat()).toEqual([
      { kind: "pending", id: first },
      { kind: "pending", id: first },
      { kind: "done", id: first },
    ]);
    expect(tokens.counts().failed).toBe(0);
    await beginMove(slot, to, from);
    await endMove(slot, to, from);
  });

  it("answers several deduplication keys of one slot, some of which have moved and some of which are new", async () => {
    const tokens = await openUp();
    const nameOf = (key: string) => `${tokens.prefix}tokens:window:${key}`;
    const [here, moved, fresh] = threeOfOneSlot(nameOf);
    const slot = slotOf(nameOf(here));
    const [from, to] = [ownerOf(slot), ownerOf((slot + 6_000) % 16_384)];
    const [first, second] = [here, moved].map((key) => ({ key, id: newId() }));
    if (first === undefined || second === undefined) throw new Error("two");
    await tokens.claim([first, second]);

    await beginMove(slot, from, to);
    await carry([nameOf(moved)], from, to);
    const answers = await tokens.claim([here, moved, fresh].map((key) => ({ key, id: newId() })));
    await endMove(slot, from, to);

    expect(answers).toEqual([
      { kind: "pending", id: first.id },
      { kind: "pending", id: second.id },
      { kind: "mine" },
    ]);
    await beginMove(slot, to, from);
    await endMove(slot, to, from);
  });

  it("grants nothing from half of a lane, and from a moved lane once it is restored", async () => {
    const tokens = await openUp();
    const lane = laneOn(cluster.masters[0], "moves");
    const slot = laneSlot(lane);
    const [from, to] = [ownerOf(slot), cluster.masters[1]];
    if (to === undefined) throw new Error("there are three masters");
    const root = `${tokens.prefix}tokens`;
    await tokens.restore(lane, [], undefined);
    const holders = (await tokens.acquire(lane, ids(2), three)).granted;

    await beginMove(slot, from, to);
    const whole = await tokens.acquire(lane, [], three);
    await carry([`${root}:slots:{${lane}}`], from, to);
    await expect(tokens.acquire(lane, ids(1), three)).rejects.toMatchObject(unavailable);
    await endMove(slot, from, to);
    const moved = await tokens.acquire(lane, ids(5), three);
    await tokens.restore(lane, [], undefined);
    const told = await tokens.acquire(lane, ids(5), three);

    expect(holders).toHaveLength(2);
    expect(whole.isUnknown).toBeUndefined();
    expect(moved).toEqual({ granted: [], isUnknown: true });
    expect(told.granted).toHaveLength(1);
    expect(tokens.isUp()).toBe(true);
    await beginMove(slot, to, from);
    await endMove(slot, to, from);
  });

  it("finds a node that has joined when a slot moves there", async () => {
    const tokens = await openUp();
    const node = await cluster.join();
    const lane = laneOn(cluster.masters[2], "to the new one");
    const slot = laneSlot(lane);
    const from = ownerOf(slot);
    await tokens.restore(lane, [], undefined);

    await beginMove(slot, from, node);
    await carry(
      [`${tokens.prefix}tokens:lane:{${lane}}`, `${tokens.prefix}tokens:slots:{${lane}}`],
      from,
      node,
    ).catch(() => undefined);
    await endMove(slot, from, node);

    expect(await tokens.acquire(lane, ids(1), three)).toEqual({ granted: [], isUnknown: true });
    await tokens.restore(lane, [], undefined);
    expect((await tokens.acquire(lane, ids(5), three)).granted).toHaveLength(3);
    expect(tokens.counts().failed).toBe(0);
    await beginMove(slot, node, from);
    await endMove(slot, node, from);
  });

  it("is away as a whole while a master without a replica is, and returns with it", async () => {
    const tokens = await openUp({ budgetMs: 1_000 });
    const [lost, kept] = cluster.masters;
    const lanes = [laneOn(lost, "lost"), laneOn(kept, "kept")];
    await lost?.process.kill();
    await until("the cluster says that it is down", async () => {
      const [ofLost, ofKept] = await Promise.allSettled(lanes.map((lane) => tokens.peek(lane)));
      const why = ofKept?.status === "rejected" ? String(ofKept.reason) : "";
      return ofLost?.status === "rejected" && why.includes("CLUSTERDOWN");
    });

    await expect(tokens.claim([{ key: aKey("a"), id: newId() }])).rejects.toMatchObject(
      unavailable,
    );
    expect(tokens.isUp()).toBe(false);
    await lost?.process.restart();
    await untilUp(tokens);
    // A node that accepts writes may hear from the others for a moment more that the cluster is down.
    await until("both lanes are restored", async () => {
      const restored = await Promise.allSettled(
        lanes.map((lane) => tokens.restore(lane, [], undefined)),
      );
      return restored.every(({ status }) => status === "fulfilled");
    });
    for (const lane of lanes)
      expect((await tokens.acquire(lane, ids(5), three)).granted).toHaveLength(3);
  });
});

describe("with replicas", () => {
  beforeEach(start({ hasReplicas: true }), 120_000);
  afterEach(async () => {
    await closeOpened();
    await stop();
  });

  it("continues without a master: the others at once, its part when a replica has taken over and was restored", async () => {
    const tokens = await openUp({ budgetMs: 1_000 });
    const [lost, kept] = cluster.masters;
    const [ofLost, ofKept] = [laneOn(lost, "lost"), laneOn(kept, "kept")];
    const entries = Array.from({ length: 30 }, (_, i) => ({ key: aKey(`${i}`), id: newId() }));
    for (const lane of [ofLost, ofKept]) await tokens.restore(lane, [], undefined);
    const running = (await tokens.acquire(ofLost, ids(2), three)).granted;
    await tokens.use(ofLost, running);
    await tokens.claim(entries);
    await tokens.confirm(entries);
    if (lost === undefined) throw new Error("there are three masters");
    await adminOf(lost).wait(1, 5_000);

    await lost.process.kill();
    await until("its death is noticed", () => !tokens.isUp());
    await expect(tokens.peek(ofLost)).rejects.toMatchObject(unavailable);
    expect((await tokens.acquire(ofKept, ids(5), three)).granted).toHaveLength(3);
    await untilUp(tokens);

    expect(await tokens.acquire(ofLost, ids(5), three)).toEqual({ granted: [], isUnknown: true });
    await tokens.restore(
      ofLost,
      running.map((id) => ({ id, leftMs: 25_000 })),
      undefined,
    );
    expect((await tokens.acquire(ofLost, ids(5), three)).granted).toHaveLength(1);
    const again = await tokens.claim(entries.map(({ key }) => ({ key, id: newId() })));
    expect(again).toEqual(entries.map(({ id }) => ({ kind: "done", id })));
  });

  it("follows a master that hands over by hand, and has its lanes restored", async () => {
    const tokens = await openUp();
    const [before] = cluster.masters;
    const [after] = cluster.replicas;
    const lane = laneOn(before, "handed over");
    await tokens.restore(lane, [], undefined);
    const { granted } = await tokens.acquire(lane, ids(1), three);
    if (after === undefined) throw new Error("each master has a replica");

    await adminOf(after).cluster("FAILOVER");
    await until("it has taken over", async () => {
      const answer = await tokens.acquire(lane, [], three).catch(() => undefined);
      return answer?.isUnknown === true;
    });
    await tokens.restore(lane, [], undefined);

    expect(granted).toHaveLength(1);
    expect((await tokens.acquire(lane, ids(5), three)).granted).toHaveLength(2);
    await untilUp(tokens);
  });
});
