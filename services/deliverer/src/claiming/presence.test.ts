import { describe, expect, it } from "@jest/globals";
import { limits, owner, ownFormat } from "@posthaste/domain";
import { type RosterEntry } from "@posthaste/ports";
import { recordingLog, virtualClock } from "@posthaste/testing";
import { Presence } from "./presence.ts";

const here = owner("here");
const bus = { hears: () => true };

function opened() {
  const clock = virtualClock();
  const said: string[] = [];
  const entries: RosterEntry[] = [];
  const waiting: (() => void)[] = [];
  const lines = { isClosed: false, isOpenToNamed: true };
  let hasNoTime = false;
  let isSlow = false;
  const answered = (): Promise<void> =>
    isSlow ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve();
  const roster = {
    announce: async (entry: RosterEntry) => {
      entries.push(entry);
      said.push(`${entry.isOpen ? "open" : "closed"}${entry.isBusy ? ", busy" : ""}`);
      await answered();
    },
    leave: async () => {
      said.push("left");
      await answered();
    },
  };
  return {
    clock,
    said,
    entries,
    presence: new Presence(
      { bus, clock, log: recordingLog(), roster },
      { owner: here, lines, settling: { isFull: false }, isBusy: () => hasNoTime },
    ),
    hasNoTime: (hasNone: boolean) => (hasNoTime = hasNone),
    /** Begins the call of a message that was heard so long ago. */
    callsAfter: (ms: number, by: Presence) => by.begun({ gotAt: clock.passedMs() - ms }),
    opens: (open: boolean) => (lines.isOpenToNamed = open),
    slow: () => (isSlow = true),
    answer: async () => {
      waiting.shift()?.();
      await clock.advance(0);
    },
  };
}

describe("a deliverer's entry in the roster", () => {
  it("is announced once a second, with the topics it hears and the formats it understands", async () => {
    const { clock, entries, presence } = opened();
    presence.start();
    presence.assigned([3, 4]);
    await clock.advance(3_000);

    expect(entries.length).toBeGreaterThanOrEqual(4);
    expect(entries.at(-1)).toEqual({
      ...{ owner: here, partitions: [3, 4], isOpen: true },
      ...{ isBusy: false, format: ownFormat },
    });
  });

  it("says at once that it takes no more, and within a second that it is open again", async () => {
    const { clock, opens, presence, said } = opened();
    presence.start();
    await clock.advance(100);
    opens(false);
    presence.announceIfFull();
    await clock.advance(0);
    expect(said).toEqual(["open", "closed"]);

    opens(true);
    presence.announceIfFull();
    await clock.advance(0);
    expect(said).toEqual(["open", "closed"]);
    presence.announceIfChanged();
    await clock.advance(0);

    expect(said).toEqual(["open", "closed", "open"]);
  });

  it("says at once that named messages are called late, and at once that they are called in time again", async () => {
    const { callsAfter, clock, hasNoTime, presence, said } = opened();
    presence.start();
    const heard = async () => {
      presence.announceIfFull();
      await clock.advance(0);
    };
    callsAfter(250, presence);
    await heard();
    hasNoTime(true);
    callsAfter(249, presence);
    await heard();
    expect(said).toEqual(["open"]);

    callsAfter(250, presence);
    await heard();
    expect(said).toEqual(["open", "open, busy"]);
    callsAfter(150, presence);
    await heard();
    expect(said).toEqual(["open", "open, busy"]);

    callsAfter(149, presence);
    await clock.advance(0);
    expect(said).toEqual(["open", "open, busy", "open"]);
  });

  it("is not busy once there is time, though no message comes", async () => {
    const { callsAfter, clock, hasNoTime, presence, said } = opened();
    presence.start();
    hasNoTime(true);
    callsAfter(1_000, presence);
    presence.announceIfFull();
    await clock.advance(0);
    hasNoTime(false);
    await clock.advance(limits.rosterEveryMs);

    expect(said).toEqual(["open", "open, busy", "open"]);
  });

  it("has one announcement under way at a time, and the last has the latest state", async () => {
    const { answer, clock, opens, presence, said, slow } = opened();
    slow();
    presence.start();
    opens(false);
    presence.announceIfFull();
    presence.assigned([1]);
    await clock.advance(3_000);
    expect(said).toEqual(["open"]);

    await answer();
    expect(said).toEqual(["open", "closed"]);
    await answer();
    expect(said).toEqual(["open", "closed"]);
  });

  it("is removed when the announcement under way has ended, and no announcement follows", async () => {
    const { answer, clock, presence, said, slow } = opened();
    slow();
    presence.start();
    await clock.advance(0);
    let hasLeft = false;
    void presence.leave().then(() => (hasLeft = true));
    presence.assigned([]);
    await clock.advance(1_000);
    expect(said).toEqual(["open"]);

    await answer();
    expect(said).toEqual(["open", "left"]);
    await answer();
    await clock.advance(1_000);
    expect(hasLeft).toBe(false);
    await clock.advance(1_000);

    expect(hasLeft).toBe(true);
    expect(said).toEqual(["open", "left"]);
    expect(clock.armed).toBe(0);
  });

  it("that could not be removed counts while it is fresh, and the subscription lasts until then", async () => {
    const { clock } = opened();
    const roster = {
      announce: async () => undefined,
      leave: () => Promise.reject(new Error("away")),
    };
    const presence = new Presence(
      { bus, clock, log: recordingLog(), roster },
      {
        ...{ owner: here, settling: { isFull: false } },
        lines: { isClosed: false, isOpenToNamed: true },
      },
    );
    let hasLeft = false;
    void presence.leave().then(() => (hasLeft = true));
    await clock.advance(limits.rosterFreshMs);
    expect(hasLeft).toBe(false);
    await clock.advance(500);

    expect(hasLeft).toBe(true);
  });
});
