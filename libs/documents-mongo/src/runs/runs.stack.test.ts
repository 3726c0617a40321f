import { describe, expect, it } from "@jest/globals";
import {
  allShards,
  leftDropped,
  limits,
  type Run,
  type RunId,
  runId,
  runMessageId,
} from "@posthaste/domain";
import { headAlone, type Records, type RunStore } from "@posthaste/ports";
import { aResult, aRunId, aRunStart, aTenant, ending, joining, newId } from "@posthaste/testing";
import { describeRuns } from "@posthaste/testing/contract";
import { type Connection } from "../connection.ts";
import { createIds } from "../ids.ts";
import { createRecordPorts, recordIndexes, storeOf } from "../messages/record-ports.ts";
import { freshDatabase, type Opened, readsNoWholeCollection } from "../opened.fixture.ts";
import { ways } from "../repeated.fixture.ts";
import { servers } from "../servers.fixture.ts";
import { createRuns } from "./runs.ts";
import { withRuns } from "./store.ts";

function harnessOf({ clock }: Opened, connection: Connection) {
  const { alarms, flowLanes, records, runs } = createRecordPorts(connection, connection);
  return {
    ...{ alarms, flowLanes, records, runs },
    ids: { next: newId },
    now: () => clock.now(),
    advance: (ms: number) => clock.advance(ms),
    close: () => Promise.resolve(),
  };
}

const address = { tenant: aTenant, id: aRunId };

/** Returns the store of one process, and the steps of its runs. `by` opens that of a further one, whose calls `again` makes. */
function storeOn({ connection, clock }: Opened) {
  const by = (again: Connection["again"] = connection.again): RunStore =>
    createRecordPorts({ ...connection, again }, connection).runs;
  const runs = by();
  const start = (store = runs, id = aRunId, root = newId()) =>
    store.start(aTenant, id, "new", (use) => aRunStart(use, { id, root, now: clock.now() }));
  const step = (n = 1, store = runs) =>
    store.change(address, (seen) => joining(seen, [aResult(n)], clock.now()));
  const end = (run: Run | typeof address = address) =>
    runs.change(run, (seen) => ending(seen, clock.now()));
  const sweep = (store = runs) => store.sweep(aTenant, clock.now(), 10);
  return { by, clock, connection, end, runs, start, step, sweep };
}

/** Returns a store whose process dies between a head and its records. */
function dyingAtInsert(opened: Opened) {
  const { connection } = opened;
  const dies: Records["insert"] = () => Promise.reject(new Error("the process has ended"));
  const dying = createRuns(withRuns(storeOf(connection), dies));
  const { alarms, records } = createRecordPorts(connection, connection);
  const store = storeOn(opened);
  const start = async (): Promise<Run> => {
    await store.start(dying).catch(() => undefined);
    const run = await store.runs.get(address);
    if (!run) throw new Error("the head is there");
    return run;
  };
  const has = async (run: Run, part?: string): Promise<boolean> => {
    const id = part === undefined ? run.root : runMessageId(run.root, part);
    return (await records.get(aTenant, [id]))[0] !== undefined;
  };
  const ring = () => alarms.ring(allShards, 10);
  return { ...store, alarms, dying, has, ring, start };
}

async function everythingIn({ collection }: Connection, name: string): Promise<readonly string[]> {
  const found = await collection<{ _id: string }>(name)
    .find({ _id: { $gt: "" } })
    .sort({ _id: 1 })
    .toArray();
  return found.map(({ _id }) => _id);
}

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, recordIndexes);

  const openStore = async () => storeOn(await open());

  for (const [how, through] of ways)
    describeRuns(`${name}${how}`, async () => {
      const opened = await open();
      return harnessOf(opened, through(opened.connection));
    });

  it(`${name}: a head whose records were never inserted has them inserted by its alarm`, async () => {
    const { alarms, clock, dying, has, ring, start } = dyingAtInsert(await open());
    const run = await start();
    await dying
      .change(run, (seen) => joining(seen, [aResult(2), aResult(3)], clock.now()))
      .catch(() => undefined);
    for (const part of [undefined, "s2", "s3"]) expect(await has(run, part)).toBe(false);

    expect(await alarms.next(allShards)).toBe(clock.now() + limits.ringAheadMs);
    await ring();
    expect(await has(run, "s3")).toBe(false);
    await clock.advance(limits.ringAheadMs);
    await ring();

    expect(await has(run, "s3")).toBe(true);
    const { rung } = await ring();
    expect(rung.map((each) => each.kind)).toContain("hint");
    // The changes that the start and the result of step 2 caused were accepted, so both were delivered.
    expect([await has(run), await has(run, "s2")]).toEqual([false, false]);
  });

  it(`${name}: an alarm makes no record of a run that has ended, and rings once`, async () => {
    const { alarms, clock, end, has, ring, runs, start } = dyingAtInsert(await open());
    const run = await start();
    await end(run);
    await runs.change(run, (seen) => {
      const next = leftDropped(seen);
      const write = next && headAlone(next);
      return { verdict: undefined, ...(write && { write }) };
    });
    await clock.advance(limits.ringAheadMs);
    await ring();

    expect(await has(run)).toBe(false);
    expect(await alarms.next(allShards)).toBeUndefined();
  });

  it(`${name}: a step is answered by the use of its id that is active, also by a process that has seen the one before end`, async () => {
    const { by, end, runs, start, step } = await openStore();
    await start();
    await end();
    expect(await step()).toBe("ended");

    await start(by());

    expect(await step()).toBe(1);
    expect(await runs.get(address)).toMatchObject({ generation: 2, reached: 1 });
  });

  it(`${name}: a start whose reply is lost has started, also if its run has continued since`, async () => {
    const { by, connection, runs, start, step } = await openStore();
    let hasGoneOn = false;
    const lossy = by((task) =>
      connection.again(async () => {
        const answer = await task();
        if (hasGoneOn || !(await runs.get(address))) return answer;
        hasGoneOn = true;
        await step();
        return task();
      }),
    );

    const root = newId();

    const started = await start(lossy, aRunId, root);

    expect(started).toMatchObject({ kind: "started", run: { root } });
    expect(await runs.get(address)).toMatchObject({ root, generation: 1, reached: 1 });
  });

  it(`${name}: a change whose reply is lost is not decided again, also if others have come since`, async () => {
    const { by, clock, connection, runs, start, step } = await openStore();
    await start();
    let others = 0;
    const lossy = by((task) =>
      connection.again(async () => {
        const answer = await task();
        const run = await runs.get(address);
        if (others > 0 || run?.reached !== 1) return answer;
        for (others = 1; others < 4; others++) await step(others + 1);
        return task();
      }),
    );
    let decided = 0;

    const verdict = await lossy.change(address, (seen) => {
      decided += 1;
      return { ...joining(seen, [aResult(1)], clock.now()), verdict: decided };
    });

    expect([verdict, decided, others]).toEqual([1, 1, 4]);
    expect(await runs.get(address)).toMatchObject({ reached: 4 });
  });

  it.each([0, 61_000])(
    `${name}: a start that looked before a sweep, and writes after another that came %i ms later, learns of that`,
    async (msLater) => {
      const { by, clock, connection, end, runs, start, sweep } = await openStore();
      await start();
      await end();
      await clock.advance(1_000);
      let hasLooked = false;
      const slow = by(async (task) => {
        const answer = await connection.again(task);
        if (hasLooked) return answer;
        hasLooked = true;
        await sweep();
        await clock.advance(msLater);
        await sweep();
        expect((await start()).kind).toBe("started");
        return answer;
      });

      const late = await start(slow);

      expect(late).toEqual({ kind: "known", run: await runs.get(address) });
      const heads = connection.collection("runs");
      expect(await heads.countDocuments({ tenant: aTenant, "state.kind": "active" })).toBe(1);
    },
  );

  it(`${name}: of a run that was swept nothing is left a minute later`, async () => {
    const { clock, connection, end, start, sweep } = await openStore();
    await start();
    await end();
    await clock.advance(1_000);

    expect(await sweep()).toBe(1);
    await clock.advance(60_001);
    expect(await sweep()).toBe(0);

    for (const collection of ["runs", "run_parts", "run_attempts"])
      expect(await everythingIn(connection, collection)).toEqual([]);
  });

  it.each(["goes on", "ends there"])(
    `${name}: of a change that a sweep overtakes behind its parts nothing is left, where its process %s`,
    async (what) => {
      const { by, clock, connection, end, start, sweep } = await openStore();
      const { run } = await start();
      await end(run);
      await clock.advance(1_000);
      let calls = 0;
      const slow = by(async (task) => {
        calls += 1;
        // The change has read the head, and writes its part after the parts of the run were removed.
        if (calls === 2) expect(await sweep()).toBe(1);
        if (calls > 2 && what === "ends there") throw new Error("the process has ended");
        return connection.again(task);
      });

      const changed = slow.change(run, (seen) => {
        const parts = [{ name: "s1", at: clock.now(), body: new Uint8Array(1) }];
        const next = { ...seen, version: seen.version + 1 };
        return { verdict: "logged", write: { run: next, parts, deliveries: [] } };
      });

      if (what === "goes on") expect(await changed).toBeUndefined();
      else {
        await expect(changed).rejects.toThrow("ended");
        expect(await everythingIn(connection, "run_parts")).toEqual([`${run.root}/s1`]);
        await clock.advance(60_001);
        await sweep();
      }
      expect(await everythingIn(connection, "run_parts")).toEqual([]);
    },
  );

  it(`${name}: of a start that loses to another no part is left`, async () => {
    const { connection, start } = await openStore();
    const [outcome] = await Promise.all(Array.from({ length: 20 }, () => start()));

    expect(await everythingIn(connection, "run_parts")).toEqual([`${outcome?.run.root}/start`]);
  });

  it(`${name}: parts that a process has left before it wrote their head go in two hours, and no others`, async () => {
    const { by, clock, connection, runs, start } = await openStore();
    // The sweep reads the age of parts from the root.
    const ids = createIds(connection);
    const startIn = async (store: RunStore, id: RunId) => {
      const root = ids.next();
      await start(store, id, root);
      return root;
    };
    let calls = 0;
    const dying = by((task) =>
      ++calls > 2 ? Promise.reject(new Error("the process has ended")) : connection.again(task),
    );
    const left = async () => {
      const parts = await everythingIn(connection, "run_parts");
      return parts.map((part) => part.slice(0, part.indexOf("/")));
    };
    await clock.advance(10_000_000);
    const here = await startIn(runs, aRunId);
    await expect(startIn(dying, runId("stray"))).rejects.toThrow("ended");
    expect(await left()).toHaveLength(2);

    await clock.advance(3_000_000);
    await by().sweep(aTenant, 0, 10);
    expect(await left()).toHaveLength(2);
    const young = await startIn(runs, runId("young"));
    await clock.advance(3_600_001);
    await runs.sweep(aTenant, 0, 10);

    expect(await left()).toEqual([here, young].toSorted());
  });

  it(`${name}: of two hundred changes at once from two processes each is decided, and few of them twice`, async () => {
    const { by, clock, runs, start } = await openStore();
    const ofAnother = by();
    await start();
    let decided = 0;

    const fresh = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        (i % 2 === 0 ? runs : ofAnother).change(address, (seen) => {
          decided += 1;
          return joining(seen, [aResult(i + 1)], clock.now());
        }),
      ),
    );

    expect(new Set(fresh)).toEqual(new Set([1]));
    expect(await runs.get(address)).toMatchObject({ reached: 200, history: { length: 201 } });
    expect(decided).toBeLessThan(2_000);
  });

  it(`${name}: a sweep that another has overtaken leaves the next run of the key alone`, async () => {
    const { by, clock, connection, end, runs, start, sweep } = await openStore();
    const { run: first } = await start();
    await end(first);
    await clock.advance(1_000);
    let looked = 0;
    const slow = by(async (task) => {
      const answer = await connection.again(task);
      looked += 1;
      if (looked > 1) return answer;
      await sweep();
      await clock.advance(61_000);
      await sweep();
      await start();
      return answer;
    });

    await sweep(slow);

    const next = await runs.get(address);
    expect(next?.key).toBe(first.key);
    expect(next && (await runs.part(next, "start"))).toBeDefined();
  });

  readsNoWholeCollection("runs", open);
});
