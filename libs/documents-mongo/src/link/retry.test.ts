import { describe, expect, it } from "@jest/globals";
import { seededRandom, virtualClock } from "@posthaste/testing";
import { createPatience } from "./retry.ts";

const patienceMs = 2_500;

function failure(name: string, fields: object = {}): Error {
  const error = new Error(`said by ${name}`);
  return Object.assign(error, { name }, fields);
}

/** Returns a task that fails with each of `failures` in turn, then succeeds. */
function tries(failures: readonly Error[]) {
  const left = [...failures];
  const done = { tries: 0 };
  const task = async (): Promise<string> => {
    done.tries += 1;
    const error = left.shift();
    if (error) throw error;
    return "done";
  };
  return { done, task };
}

async function patiently(failures: readonly Error[]) {
  const clock = virtualClock();
  const { done, task } = tries(failures);
  const answer = createPatience(clock, seededRandom(1), patienceMs)
    .again(task)
    .then(
      (text) => text,
      (error: unknown) => error,
    );
  await clock.runUntilIdle(60_000);
  return { answer: await answer, tries: done.tries };
}

const inABatch = (inner: Error): Error =>
  failure("MongoBulkWriteError", {
    errorResponse: inner,
    writeErrors: [],
    result: { getWriteConcernError: () => undefined },
  });
const network = failure("MongoNetworkError");

describe("a call that the network took", () => {
  for (const [what, error] of [
    ["a connection that broke", network],
    ["a reply that did not come in time", failure("MongoNetworkTimeoutError")],
    ["a pool that was cleared under it", failure("PoolClearedOnNetworkError")],
    ["a primary that steps down", failure("MongoServerError", { code: 10_107 })],
    ["a write concern that was not met in time", failure("MongoWriteConcernError", { code: 64 })],
    ["a batch whose connection broke", inABatch(network)],
    [
      "a batch of which one write was interrupted",
      failure("MongoBulkWriteError", { writeErrors: [{ index: 0, code: 11_602 }] }),
    ],
  ] as const)
    it(`is made again: ${what}`, async () => {
      expect(await patiently([error, error])).toEqual({ answer: "done", tries: 3 });
    });

  it("is given up as unavailable when its time is over, with the cause", async () => {
    const { answer, tries: made } = await patiently(Array.from({ length: 1_000 }, () => network));

    expect(answer).toMatchObject({ name: "StoreError", code: "unavailable", cause: network });
    expect(made).toBeGreaterThan(3);
    expect(made).toBeLessThan(20);
  });
});

describe("a call that need not be made again", () => {
  for (const [what, error] of [
    ["a call", failure("MongoServerSelectionError")],
    ["a batch", inABatch(failure("MongoServerSelectionError"))],
  ] as const)
    it(`is unavailable when no server was found: ${what}`, async () => {
      const { answer, tries: made } = await patiently([error]);

      expect(answer).toMatchObject({ name: "StoreError", code: "unavailable" });
      expect(made).toBe(1);
    });

  it("is overloaded when every connection was taken", async () => {
    const { answer } = await patiently([failure("MongoWaitQueueTimeoutError")]);

    expect(answer).toMatchObject({ name: "StoreError", code: "overloaded" });
  });

  it("is refused as disk_full when the server's disk is", async () => {
    const { answer } = await patiently([failure("MongoServerError", { code: 14_031 })]);

    expect(answer).toMatchObject({ name: "StoreError", code: "disk_full" });
  });

  it("fails at once on an error of our own", async () => {
    const mistake = failure("MongoServerError", { code: 9 });

    expect(await patiently([mistake])).toEqual({ answer: mistake, tries: 1 });
  });
});

describe("a call without an answer", () => {
  it("is unavailable in the end, though the driver never reports it", async () => {
    const clock = virtualClock();
    const { again } = createPatience(clock, seededRandom(1), patienceMs);
    const refused = again(() => new Promise<never>(() => undefined)).catch(
      (error: unknown) => error,
    );

    await clock.runUntilIdle(60_000);

    expect(await refused).toMatchObject({ name: "StoreError", code: "unavailable" });
    expect(clock.armed).toBe(0);
  });
});

describe("an outage", () => {
  async function afterAnOutage() {
    const clock = virtualClock();
    const patience = createPatience(clock, seededRandom(1), patienceMs);
    const refused = patience.again(() => Promise.reject(network)).catch((error: unknown) => error);
    await clock.runUntilIdle(60_000);
    expect(await refused).toMatchObject({ code: "unavailable" });
    await clock.advance(patienceMs);
    return patience;
  }

  it("that has outlasted a call's patience refuses the next one untried", async () => {
    const { again, refusal } = await afterAnOutage();
    const { done, task } = tries([]);

    await expect(again(task)).rejects.toMatchObject({ code: "unavailable" });
    expect(done.tries).toBe(0);
    expect(refusal()).toBeDefined();
  });

  it("ends when another call is answered", async () => {
    const { again, answered, refusal } = await afterAnOutage();

    answered();
    expect(refusal()).toBeUndefined();

    expect(await again(tries([]).task)).toBe("done");
  });

  it("is not assumed if other calls are answered meanwhile", async () => {
    const clock = virtualClock();
    const { again } = createPatience(clock, seededRandom(1), patienceMs);
    const failing = again(() => Promise.reject(network)).catch(() => undefined);
    for (let i = 0; i < 10; i++) {
      await clock.advance(500);
      await again(tries([]).task);
    }
    await failing;

    expect(await again(tries([]).task)).toBe("done");
  });
});

describe("a server that answers reads and accepts no write", () => {
  it("has calls refused untried once its probes have failed for so long, until one is taken", async () => {
    const clock = virtualClock();
    const { again, probe, refusal } = createPatience(clock, seededRandom(1), patienceMs);
    const failing = () => probe(() => Promise.reject(network)).catch(() => undefined);
    let calls = 0;
    const read = () => again(async () => void (calls += 1));

    await failing();
    await read();
    await clock.advance(patienceMs + 1);
    await failing();

    expect(refusal()).toBeDefined();
    await expect(read()).rejects.toMatchObject({ name: "StoreError", code: "unavailable" });
    expect(calls).toBe(1);
    await probe(() => Promise.resolve());
    await read();
    expect([refusal(), calls]).toEqual([undefined, 2]);
  });
});
