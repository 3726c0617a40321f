/** Sentinels that this file starts, over a master and a replica. Also covers patches/ioredis@6.0.0.patch. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { flowLaneId, type FlowLimits } from "@posthaste/domain";
import {
  type RedisWithSentinels,
  type RunningRedis,
  startRedisWithSentinels,
} from "@posthaste/local";
import { aKey, aTenant, newId } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { Redis } from "ioredis";
import { type Opened, openTokens, until, untilUp } from "../opened.fixture.ts";

jest.setTimeout(300_000);

const lane = flowLaneId(aTenant, "lane");
const three: FlowLimits = { parallelism: 3, periodMs: 1_000 };
const ids = (count: number) => Array.from({ length: count }, () => newId());

let redis: RedisWithSentinels;
let opened: Opened[];
let admins: Redis[];

beforeEach(async () => {
  redis = await startRedisWithSentinels({ dir: temporaryFolder() });
  [opened, admins] = [[], []];
});

afterEach(async () => {
  await Promise.all(opened.map((tokens) => tokens.close()));
  for (const admin of admins) admin.disconnect();
  await redis.stop();
});

async function openUp(options: Parameters<typeof openTokens>[1] = {}): Promise<Opened> {
  const tokens = open(options);
  await untilUp(tokens);
  return tokens;
}

function open(options: Parameters<typeof openTokens>[1] = {}): Opened {
  const { url, masterName: master } = redis;
  const tokens = openTokens(url, { mode: "sentinel", sentinel: { master }, ...options });
  opened.push(tokens);
  return tokens;
}

function adminOf({ url }: RunningRedis): Redis {
  const admin = new Redis(url, { retryStrategy: () => null });
  admin.on("error", () => undefined);
  admins.push(admin);
  return admin;
}

describe("a master that dies", () => {
  it("is followed by its replica, in which each lane is restored before it grants, and which has the writes that had reached it", async () => {
    const tokens = await openUp({ budgetMs: 1_000 });
    const [master, replica] = redis.servers;
    const entries = Array.from({ length: 20 }, (_, i) => ({ key: aKey(`${i}`), id: newId() }));
    await tokens.restore(lane, [], undefined);
    const running = (await tokens.acquire(lane, ids(2), three)).granted;
    await tokens.use(lane, running);
    await tokens.claim(entries);
    await tokens.confirm(entries);
    await adminOf(master).wait(1, 5_000);

    await master.process.kill();
    await until("its death is noticed", () => !tokens.isUp());
    await expect(tokens.acquire(lane, ids(1), three)).rejects.toMatchObject({
      code: "unavailable",
    });
    await untilUp(tokens);

    expect(await redis.master()).toBe(replica);
    expect(await tokens.acquire(lane, ids(5), three)).toEqual({ granted: [], isUnknown: true });
    expect(await tokens.use(lane, running)).toEqual([]);
    await tokens.restore(
      lane,
      running.map((id) => ({ id, leftMs: 25_000 })),
      undefined,
    );
    expect((await tokens.acquire(lane, ids(5), three)).granted).toHaveLength(1);
    const again = await tokens.claim(entries.map(({ key }) => ({ key, id: newId() })));
    expect(again).toEqual(entries.map(({ id }) => ({ kind: "done", id })));
  });

  it("takes with it the writes that had not reached the replica: its grants are restored from the records, its deduplication keys are forgotten", async () => {
    const tokens = await openUp({ budgetMs: 1_000 });
    const [master, replica] = redis.servers;
    const entry = { key: aKey("last"), id: newId() };
    await tokens.restore(lane, [], undefined);
    await adminOf(master).wait(1, 5_000);
    replica.process.pause();
    await adminOf(master).call("CLIENT", "KILL", "TYPE", "replica");
    const granted = (await tokens.acquire(lane, ids(3), three)).granted;
    await tokens.use(lane, granted);
    await tokens.claim([entry]);
    await tokens.confirm([entry]);

    await master.process.kill();
    replica.process.resume();
    await until("its death is noticed", () => !tokens.isUp());
    await untilUp(tokens);

    expect(await tokens.acquire(lane, ids(5), three)).toEqual({ granted: [], isUnknown: true });
    await tokens.restore(
      lane,
      granted.map((id) => ({ id, leftMs: 25_000 })),
      undefined,
    );
    expect((await tokens.acquire(lane, ids(5), three)).granted).toEqual([]);
    expect(await tokens.claim([{ ...entry, id: newId() }])).toEqual([{ kind: "mine" }]);
  });
});

describe("a master that hands over by hand", () => {
  it("is left for the new one, also without a call meanwhile, and one connection to each sentinel is kept", async () => {
    const tokens = await openUp();
    const [sentinel] = redis.sentinels;
    if (sentinel === undefined) throw new Error("there are three sentinels");
    const admin = adminOf(sentinel);
    const listening = async () => {
      const clients = String(await admin.client("LIST"));
      return clients.split("\n").filter((line) => line.includes("cmd=subscribe")).length;
    };
    await until("it listens", async () => (await listening()) === 1);

    for (const round of [2, 3]) {
      await adminOf(redis.servers[0]).call("CLIENT", "KILL", "TYPE", "normal");
      await until("it is back", () => tokens.isUp() && tokens.counts().connections === round);
    }
    await admin.call("SENTINEL", "FAILOVER", redis.masterName);
    await until("the new one is found", () => tokens.isUp() && tokens.counts().connections > 3);

    await until("one listens", async () => (await listening()) === 1);
    await tokens.restore(lane, [], undefined);
    expect((await tokens.acquire(lane, ids(5), three)).granted).toHaveLength(3);
  });
});

describe("sentinels", () => {
  it("that do not answer are passed over as long as one answers", async () => {
    const [first, second] = redis.sentinels;
    // A silent sentinel costs half of the time for a connection: a try that begins with the first ends before the third.
    first?.process.pause();
    second?.process.pause();

    const tokens = await openUp({ connectMs: 1_000 });

    await tokens.restore(lane, [], undefined);
    expect((await tokens.acquire(lane, ids(5), three)).granted).toHaveLength(3);
  });

  it("that are cut write nothing to the console, and the master stays in use", async () => {
    const written = jest.spyOn(console, "error").mockReturnValue(undefined);
    const dialled: unknown[] = [];
    const dial = (socket: unknown): void => void dialled.push(socket);
    const tokens = await openUp();
    const [sentinel] = redis.sentinels;
    if (sentinel === undefined) throw new Error("there are three sentinels");
    const admin = adminOf(sentinel);
    await until("it listens", async () =>
      String(await admin.client("LIST")).includes("cmd=subscribe"),
    );

    subscribe("net.client.socket", dial);
    await sentinel.process.kill();
    await until("it is dialled again and again", () => dialled.length >= 3);
    unsubscribe("net.client.socket", dial);

    await tokens.restore(lane, [], undefined);
    expect((await tokens.acquire(lane, ids(5), three)).granted).toHaveLength(3);
    expect(written).not.toHaveBeenCalled();
    written.mockRestore();
  });

  it("that are all away are reported once, with the obstacle", async () => {
    const tokens = await openUp();
    const downs = () => tokens.log.lines.filter(({ event }) => event === "tokens.down");
    await Promise.all(redis.sentinels.map(({ process }) => process.kill()));
    await redis.servers[0].process.kill();

    const { tries } = tokens.counts();
    await until("each sentinel was tried", () => tokens.counts().tries >= tries + 4);

    const reasons = downs().map(({ fields }) => String(fields["reason"]));
    expect(reasons.filter((reason) => reason.includes("sentinels"))).toEqual([
      expect.stringContaining("ECONNREFUSED"),
    ]);
  });

  it("that know no master of this name are reported as such", async () => {
    const tokens = open({ sentinel: { master: "another" } });

    await until("it is said", () => tokens.problem()?.includes("sentinel") === true);
    await expect(tokens.peek(lane)).rejects.toMatchObject({ code: "unavailable" });
  });
});
