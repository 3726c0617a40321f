import { describe, expect, it } from "@jest/globals";
import { owedFact } from "@posthaste/domain";
import { aMessage, type MessageOverrides, recordingLog, virtualClock } from "@posthaste/testing";
import { OwedLog } from "./owed-log.ts";

type Batch = readonly { readonly message: { readonly id: string; readonly body: Uint8Array } }[];

function opened(append: (batch: Batch) => Promise<void> = async () => undefined) {
  const clock = virtualClock();
  const batches: Batch[] = [];
  const messageLog = {
    append: async (batch: Batch) => {
      batches.push(batch);
      await append(batch);
    },
  };
  const owed = new OwedLog({ messageLog, clock, log: recordingLog() }, () => undefined);
  const add = (count: number, overrides: MessageOverrides = {}): void => {
    for (let n = 0; n < count; n++) {
      const message = aMessage({ now: clock.now(), ...overrides });
      owed.add(message, owedFact(message.id, 0, clock.now()));
    }
  };
  return { add, batches, clock, owed };
}

const away = async (): Promise<void> => {
  throw new Error("away");
};

describe("the events owed to the log", () => {
  it("are written together a moment later, without bodies", async () => {
    const { add, batches, clock, owed } = opened();
    add(3);
    await clock.advance(50);
    add(2);
    expect(batches).toEqual([]);

    await clock.advance(50);

    expect(batches.map(({ length }) => length)).toEqual([5]);
    expect(batches.flat().every(({ message }) => message.body.length === 0)).toBe(true);
    expect(owed.isEmpty).toBe(true);
  });

  it("are written at once where they are many, in batches, one after the other", async () => {
    const { add, batches, clock } = opened();
    add(1_200);
    await clock.advance(0);
    expect(batches.map(({ length }) => length)).toEqual([500, 500]);

    await clock.advance(100);

    expect(batches.map(({ length }) => length)).toEqual([500, 500, 200]);
  });

  it("may wait up to as many bytes again after a write, and after they were left to the removal", async () => {
    let isAway = false;
    const { add, clock, owed } = opened(async () => (isAway ? away() : undefined));
    const heavy: MessageOverrides = { headers: [["X-Large", "x".repeat(1024 * 1024)]] };
    // These entries are more than half of the bound.
    const most = 17;

    add(most, heavy);
    await clock.advance(100);
    isAway = true;
    add(most, heavy);
    await clock.advance(25_000);
    const given = owed.left;
    isAway = false;
    add(most, heavy);
    await clock.advance(1_000);

    expect([given, owed.left, owed.isEmpty]).toEqual([most, most, true]);
  });

  it("are tried once a second while the log is away, and left to the removal after twenty", async () => {
    const { add, batches, clock, owed } = opened(away);
    add(600);

    await clock.advance(10_000);
    expect(batches.length).toBeGreaterThan(8);
    expect(batches.length).toBeLessThan(12);
    expect(owed.isEmpty).toBe(false);
    await clock.advance(12_000);

    expect(owed.isEmpty).toBe(true);
  });

  it("are bounded, and events left to the removal are counted", async () => {
    const { add, batches, clock, owed } = opened();
    add(30_000);

    await clock.advance(1_000);

    expect(batches.flat().length).toBeLessThan(21_000);
    expect(batches.flat().length + owed.left).toBe(30_000);
  });

  it("have a bound in bytes as well, which counts headers beside bodies", async () => {
    const { add, batches, clock, owed } = opened();
    add(3_000, { headers: [["x", "h".repeat(16 * 1024)]] });

    await clock.advance(1_000);

    expect(batches.flat().length).toBeLessThan(2_000);
    expect(batches.flat().length + owed.left).toBe(3_000);
  });

  it("are no longer waited for when there is no time, except for writes on their way", async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const { add, clock, owed } = opened(() => answered);
    add(600);
    await clock.advance(0);
    add(100);
    owed.leaveAll();
    expect(owed.left).toBe(200);
    expect(owed.isEmpty).toBe(false);

    answer();
    await clock.advance(0);

    expect(owed.isEmpty).toBe(true);
  });
});
