import { describe, expect, it } from "@jest/globals";
import { owedFact } from "@posthaste/domain";
import { aMessage, recordingLog, virtualClock } from "@posthaste/testing";
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
  const add = (count: number): void => {
    for (let n = 0; n < count; n++) {
      const message = aMessage({ now: clock.now() });
      owed.add(message, owedFact(message.id, 0, clock.now()));
    }
  };
  return { add, batches, clock, owed };
}

const away = async (): Promise<void> => {
  throw new Error("away");
};

describe("what the log is owed", () => {
  it("is written together a moment later, without bodies", async () => {
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

  it("is written at once where it is much, in batches, one after the other", async () => {
    const { add, batches, clock } = opened();
    add(1_200);
    await clock.advance(0);
    expect(batches.map(({ length }) => length)).toEqual([500, 500]);

    await clock.advance(100);

    expect(batches.map(({ length }) => length)).toEqual([500, 500, 200]);
  });

  it("is tried once a second while the log is away, and left to the removal after twenty", async () => {
    const { add, batches, clock, owed } = opened(away);
    add(600);

    await clock.advance(10_000);
    expect(batches.length).toBeGreaterThan(8);
    expect(batches.length).toBeLessThan(12);
    expect(owed.isEmpty).toBe(false);
    await clock.advance(12_000);

    expect(owed.isEmpty).toBe(true);
  });

  it("is no more than a bound", async () => {
    const { add, batches, clock } = opened();
    add(30_000);

    await clock.advance(1_000);

    expect(batches.flat()).toHaveLength(20_000);
  });
});
