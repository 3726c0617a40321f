import { describe, expect, it } from "@jest/globals";
import { allShards, limits, type Run, runMessageId } from "@posthaste/domain";
import { type Records, type RunStore } from "@posthaste/ports";
import { aResult, aRunId, aRunStart, aTenant, ending, joining, newId } from "@posthaste/testing";
import { describeRuns } from "@posthaste/testing/contract";
import { type Connection } from "../connection.ts";
import { createRecordPorts, recordIndexes, roomsOf } from "../messages/record-ports.ts";
import { freshDatabase, type Opened } from "../opened.fixture.ts";
import { repeated } from "../repeated.fixture.ts";
import { servers } from "../servers.fixture.ts";
import { createRuns, runRoomsOf } from "./runs.ts";

function harnessOf({ clock }: Opened, connection: Connection) {
  const { alarms, records, runs } = createRecordPorts(connection, connection);
  return {
    ...{ alarms, records, runs },
    ids: { next: newId },
    now: () => clock.now(),
    advance: (ms: number) => clock.advance(ms),
    close: () => Promise.resolve(),
  };
}

/** A process that ends between a head and its records. */
function dyingAtInsert({ connection, clock }: Opened) {
  const rooms = roomsOf(connection);
  const dies: Records["insert"] = () => Promise.reject(new Error("the process has ended"));
  const dying = createRuns(runRoomsOf(rooms, dies));
  const { alarms, records, runs } = createRecordPorts(connection, connection);
  const start = async (store = dying): Promise<Run> => {
    const root = newId();
    const make = (use: Parameters<typeof aRunStart>[0]) =>
      aRunStart(use, { root, now: clock.now() });
    await store.start(aTenant, aRunId, make).catch(() => undefined);
    const run = await runs.get({ tenant: aTenant, id: aRunId });
    if (!run) throw new Error("the head is there");
    return run;
  };
  const has = async (run: Run, part?: string): Promise<boolean> => {
    const id = part === undefined ? run.root : runMessageId(run.root, part);
    return (await records.get(aTenant, [id]))[0] !== undefined;
  };
  const ring = () => alarms.ring(allShards, 10);
  return { alarms, clock, dying, has, ring, runs, start };
}

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, recordIndexes);

  describeRuns(name, async () => {
    const opened = await open();
    return harnessOf(opened, opened.connection);
  });

  describeRuns(`${name}, each reply lost once`, async () => {
    const opened = await open();
    return harnessOf(opened, repeated(opened.connection));
  });

  it(`${name}: a head whose records were never inserted has them inserted by its alarm`, async () => {
    const { alarms, clock, dying, has, ring, start } = dyingAtInsert(await open());
    const run = await start();
    await dying
      .change(run, (seen) => joining(seen, [aResult(2), aResult(3)], clock.now()))
      .catch(() => undefined);
    expect([await has(run), await has(run, "s2"), await has(run, "s3")]).toEqual([
      false,
      false,
      false,
    ]);

    expect(await alarms.next(allShards)).toBe(clock.now() + limits.ringAheadMs);
    await ring();
    expect(await has(run, "s3")).toBe(false);
    await clock.advance(limits.ringAheadMs);
    await ring();

    expect(await has(run, "s3")).toBe(true);
    const { rung } = await ring();
    expect(rung.map((each) => each.kind)).toContain("hint");
    // What the start and the result of step 2 caused was accepted: they were delivered.
    expect([await has(run), await has(run, "s2")]).toEqual([false, false]);
  });

  it(`${name}: an alarm makes no record of a run that has ended, and rings once`, async () => {
    const { alarms, clock, has, ring, runs, start } = dyingAtInsert(await open());
    const run = await start();
    await runs.change(run, (seen) => ending(seen, clock.now()));
    await clock.advance(limits.ringAheadMs);
    await ring();

    expect(await has(run)).toBe(false);
    expect(await alarms.next(allShards)).toBeUndefined();
  });

  it(`${name}: a start whose reply is lost has started, also if its run has gone on since`, async () => {
    const { connection, clock } = await open();
    const { runs } = createRecordPorts(connection, connection);
    const address = { tenant: aTenant, id: aRunId };
    const step = () => runs.change(address, (seen) => joining(seen, [aResult(1)], clock.now()));
    let hasGoneOn = false;
    const lossy = {
      ...connection,
      again: <T>(task: () => Promise<T>): Promise<T> =>
        connection.again(async () => {
          const answer = await task();
          if (hasGoneOn || !(await runs.get(address))) return answer;
          hasGoneOn = true;
          await step();
          return task();
        }),
    };
    const root = newId();
    const make = (use: Parameters<typeof aRunStart>[0]) =>
      aRunStart(use, { root, now: clock.now() });

    const started = await createRecordPorts(lossy, connection).runs.start(aTenant, aRunId, make);

    expect(started).toMatchObject({ kind: "started", run: { root } });
    expect(await runs.get(address)).toMatchObject({ root, generation: 1, reached: 1 });
  });

  it(`${name}: a change whose reply is lost is not decided again, also if others have come since`, async () => {
    const { connection, clock } = await open();
    const { runs } = createRecordPorts(connection, connection);
    const address = { tenant: aTenant, id: aRunId };
    const given = { root: newId(), now: clock.now() };
    await runs.start(aTenant, aRunId, (use) => aRunStart(use, given));
    const join = (store: RunStore, step: number) =>
      store.change(address, (seen) => joining(seen, [aResult(step)], clock.now()));
    let others = 0;
    const lossy = {
      ...connection,
      again: <T>(task: () => Promise<T>): Promise<T> =>
        connection.again(async () => {
          const answer = await task();
          const run = await runs.get(address);
          if (others > 0 || run?.reached !== 1) return answer;
          for (others = 1; others < 4; others++) await join(runs, others + 1);
          return task();
        }),
    };
    let decided = 0;

    const verdict = await createRecordPorts(lossy, connection).runs.change(address, (seen) => {
      decided += 1;
      return { ...joining(seen, [aResult(1)], clock.now()), verdict: decided };
    });

    expect([verdict, decided, others]).toEqual([1, 1, 4]);
    expect(await runs.get(address)).toMatchObject({ reached: 4 });
  });

  it(`${name}: a sweep that another has overtaken leaves the next run of the key alone`, async () => {
    const { connection, clock } = await open();
    const { runs } = createRecordPorts(connection, connection);
    const start = () => {
      const given = { root: newId(), now: clock.now() };
      return runs.start(aTenant, aRunId, (use) => aRunStart(use, given));
    };
    const { run: first } = await start();
    await runs.change(first, (seen) => ending(seen, clock.now()));
    await clock.advance(1_000);
    let looked = 0;
    const slow = createRecordPorts(
      {
        ...connection,
        again: async (task) => {
          const answer = await connection.again(task);
          looked += 1;
          if (looked > 1) return answer;
          await runs.sweep(aTenant, clock.now(), 10);
          await start();
          return answer;
        },
      },
      connection,
    ).runs;

    await slow.sweep(aTenant, clock.now(), 10);

    const next = await runs.get({ tenant: aTenant, id: aRunId });
    expect(next?.key).toBe(first.key);
    expect(next && (await runs.part(next, "start"))).toBeDefined();
  });

  it(`${name}: no question of runs reads a whole collection`, async () => {
    const { queries } = await open();

    expect(queries.unserved()).toEqual([]);
    expect(queries.count()).toBeGreaterThan(0);
  });
});
