import { describe, expect, it } from "@jest/globals";
import { flowId, type LaneId, limits, messageId } from "@posthaste/domain";
import { anotherTenant, aTenant, virtualClock } from "@posthaste/testing";
import { expectAllGivenBack, heldByWork } from "@posthaste/testing/give-back";
import { type BatchKind } from "./ring.ts";
import { type BackgroundParts, BackgroundWork } from "./background.ts";

const lane = flowId("flow:t:key");
const ignore = (): void => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore, debugs: false };

const parts = (given: Partial<BackgroundParts> = {}): BackgroundParts => ({
  log,
  clock: virtualClock(),
  serve: async () => undefined,
  followUpSome: async () => [],
  ...given,
});

describe("background work", () => {
  // After its last look at the line, a grant takes several turns of the microtask queue to end.
  it.each(Array.from({ length: 12 }, (_, turns) => turns))(
    "grants again when asked %i turns after a grant began",
    async (turns) => {
      let looks = 0;
      const work = new BackgroundWork(parts({ serve: async () => void looks++ }));

      work.serve(lane);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      work.serve(lane);
      await work.settled();

      expect(looks).toBe(2);
    },
  );

  it("grants a lane that is woken many times while it is granted only once more", async () => {
    let looks = 0;
    const work = new BackgroundWork(parts({ serve: async () => void looks++ }));

    for (let i = 0; i < 100; i++) work.serve(lane);
    await work.settled();

    expect(looks).toBe(2);
  });

  it("serves 500 lanes at once, and the rest in turns of their tenants, each once", async () => {
    const served: string[] = [];
    const goOn: (() => void)[] = [];
    const serve = async (id: LaneId): Promise<void> => {
      served.push(id);
      await new Promise<void>((resolve) => goOn.push(resolve));
    };
    const work = new BackgroundWork(parts({ serve }));
    const laneOf = (tenant: string, n: number) => flowId(`flow:${tenant}:key ${n}`);

    for (let n = 0; n < 2_000; n++) work.serve(laneOf("greedy", n));
    for (let n = 0; n < 2; n++)
      for (let times = 0; times < 3; times++) work.serve(laneOf("quiet", n));
    expect({ atOnce: served.length, hasRoom: work.hasRoom }).toEqual({
      atOnce: 500,
      hasRoom: true,
    });

    for (let turn = 0; turn < 2_002; turn++) {
      goOn.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await work.settled();

    expect(served).toHaveLength(2_002);
    expect(new Set(served).size).toBe(2_002);
    const turns = served.slice(500, 504).map((id) => id.split(":")[1]);
    expect(turns).toEqual(["greedy", "quiet", "greedy", "quiet"]);
  });

  it("grants again after a grant has failed", async () => {
    let looks = 0;
    const grant = async (): Promise<void> => {
      looks++;
      throw new Error("the store is away");
    };
    const clock = virtualClock();
    const work = new BackgroundWork(parts({ clock, serve: grant }));

    work.serve(lane);
    await work.settled();
    await clock.advance(1_000);
    await work.settled();
    expect(looks).toBe(2);

    await work.stop();
    await clock.advance(60_000);
    expect(looks).toBe(2);
  });

  it("gives a name back when its task hangs", async () => {
    const clock = virtualClock();
    let runs = 0;
    const work = new BackgroundWork(parts({ clock }));
    const hangs = (): Promise<void> => (runs++, new Promise(() => undefined));

    work.run("expand", hangs);
    await clock.advance(60_000);
    await work.settled();
    work.run("expand", hangs);

    expect(runs).toBe(2);
  });

  it("follows up two batches at a time, drops none, and says when each has ended", async () => {
    const ended: BatchKind[] = [];
    const work = new BackgroundWork(parts({ batchEnded: (kind) => void ended.push(kind) }));
    const ends: (() => void)[] = [];
    const waits = (): Promise<void> => new Promise((resolve) => ends.push(resolve));

    work.runBatch("followUp", waits, 1);
    expect(work.mayRun("followUp")).toBe(true);
    work.runBatch("followUp", waits, 1);
    work.runBatch("followUp", waits, 1);

    expect(ends).toHaveLength(3);
    expect(work.mayRun("followUp")).toBe(false);
    for (const end of ends) end();
    await work.settled();
    expect(work.mayRun("followUp")).toBe(true);
    expect(ended).toEqual(["followUp", "followUp", "followUp"]);
  });

  it("follows up one batch at a time that holds as much as one reading", async () => {
    const work = new BackgroundWork(parts());
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();

    work.runBatch("followUp", () => ended, limits.readBytesMax);

    expect(work.mayRun("followUp")).toBe(false);
    end();
    await work.settled();
    expect(work.mayRun("followUp")).toBe(true);
  });

  it("takes no other batch while one runs that has used up its time", async () => {
    const clock = virtualClock();
    const work = new BackgroundWork(parts({ clock }));
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();

    work.runBatch("followUp", () => ended, limits.readBytesMax);
    await clock.advance(60_000);
    await work.settled();

    expect(work.mayRun("followUp")).toBe(false);
    end();
    await clock.advance(0);
    expect(work.mayRun("followUp")).toBe(true);
  });

  it("works outboxes that are named some at a time, of one tenant after the other, each once", async () => {
    const worked: (readonly string[])[] = [];
    let most = 0;
    let under = 0;
    const followUpSome: BackgroundParts["followUpSome"] = async (tenant, ids) => {
      most = Math.max(most, ++under);
      await new Promise((resolve) => setImmediate(resolve));
      under--;
      // Two outboxes are as many as one read holds.
      worked.push([tenant, ...ids.slice(0, 2)]);
      return ids.slice(2);
    };
    const work = new BackgroundWork(parts({ followUpSome }));

    for (const id of ["a", "b", "c", "d", "b"]) work.followUpLater(aTenant, messageId(id));
    work.followUpLater(anotherTenant, messageId("e"));
    await work.settled();

    expect(worked).toEqual([
      [aTenant, "a"],
      [aTenant, "b", "c"],
      [anotherTenant, "e"],
      [aTenant, "d"],
    ]);
    expect(most).toBe(1);
    expect(work.mayRun("followUp")).toBe(true);
  });

  it("expands three parents at a time, and none twice; once stopped it begins no other", async () => {
    const work = new BackgroundWork(parts());
    const ids = ["a", "b", "c", "d", "e"].map((id) => messageId(id));
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    for (const id of [...ids, ...ids])
      work.expand(id, () => {
        begun.push(id);
        return new Promise((resolve) => ends.push(resolve));
      });

    expect(begun).toEqual(["a", "b", "c"]);
    ends[0]?.();
    await virtualClock().advance(0);
    expect(begun).toEqual(["a", "b", "c", "d"]);
    const stopping = work.stop();
    for (const end of ends) end();
    await stopping;
    expect(begun).toHaveLength(4);
  });

  it("takes tasks until a thousand run", async () => {
    const work = new BackgroundWork(parts());
    const ends: (() => void)[] = [];
    const waits = (): Promise<void> => new Promise((resolve) => ends.push(resolve));

    for (let i = 0; i < 999; i++) work.run(`task ${i}`, waits);
    expect(work.hasRoom).toBe(true);
    work.run("one more", waits);
    expect(work.hasRoom).toBe(false);

    for (const end of ends) end();
    await work.settled();
    expect(work.hasRoom).toBe(true);
  });

  it("runs one task of a name at a time, and the next when it has ended", async () => {
    let runs = 0;
    const work = new BackgroundWork(parts());
    const task = async (): Promise<void> => void runs++;

    work.run("sweep", task);
    work.run("sweep", task);
    await work.settled();
    work.run("sweep", task);
    await work.settled();

    expect(runs).toBe(2);
  });
});

describe("places for batches", () => {
  it("are all free again, in whatever order their work ends", async () => {
    await expectAllGivenBack(() => {
      const work = new BackgroundWork(parts({ log }));
      const ways = [
        ["followUp", 100],
        ["followUp", limits.readBytesMax],
        ["schedule"],
        ["bulkAction"],
        ["run"],
      ] as const;
      const takes = ways.map(([kind, bytes]) => () => {
        if (!work.mayRun(kind)) return undefined;
        return heldByWork(async (task) => work.runBatch(kind, task, bytes));
      });
      let expanded = 0;
      const expand = () =>
        heldByWork(async (task) => work.expand(messageId(`msg_${expanded++}`), task));
      const held = () => ways.map(([kind]) => work.mayRun(kind));
      return { takes: [...takes, expand], held, endsOnce: true };
    });
  });
});
