import { describe, expect, it } from "@jest/globals";
import { flowLaneId, type LaneId, limits, settleAttempt } from "@posthaste/domain";
import { aCallbackPlan, anAnswer, anAttempt, aPolicy, aTenant } from "@posthaste/testing";
import { allShards, insert, insertClaimed, listen, open, readIn, rest } from "./opened.fixture.ts";
import { type Background, ringOnce } from "./ring.ts";

const flow = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };

/** Runs nothing; writes down what it was asked for. */
function anIdleBackground(): Background & {
  readonly lanes: readonly LaneId[];
  readonly tasks: ReadonlyMap<string, () => Promise<void>>;
} {
  const lanes: LaneId[] = [];
  const tasks = new Map<string, () => Promise<void>>();
  return {
    lanes,
    tasks,
    grant: (lane) => void lanes.push(lane),
    run: (name, task) => void tasks.set(name, task),
  };
}

describe("a round of ringing", () => {
  it("hints what is due, grants the lanes that were woken, and leaves what is not due alone", async () => {
    const ports = open();
    const heard = await listen(ports);
    const held = await insert(ports, { delayMs: 1_000 });
    await insert(ports, { delayMs: 60_000 });
    await insert(ports, { flow });
    const background = anIdleBackground();

    await ports.clock.advance(1_000);
    const rung = await ringOnce(ports, background, allShards, 100);
    await rest(ports);

    expect(rung).toBe(2);
    expect(heard.due.map(({ id }) => id)).toEqual([held.id]);
    expect(background.lanes).toEqual([flowLaneId(aTenant, flow.key)]);
  });

  it("puts a held message with flow control into its line when its time has come, and grants the lane", async () => {
    const ports = open();
    const held = await insert(ports, { flow, delayMs: 1_000 });
    const background = anIdleBackground();

    await ports.clock.advance(1_000);
    await ringOnce(ports, background, allShards, 100);

    await readIn(ports, held, "waiting");
    expect(background.lanes).toEqual([held.flowLane]);
  });

  it("works through the outbox that nobody has cleared in 30 s", async () => {
    const ports = open();
    const policy = aPolicy({ callback: aCallbackPlan() });
    const record = await insertClaimed(ports, { policy });
    const attempt = anAttempt(anAnswer(200), { endedAt: ports.clock.now() });
    const inputs = { chance: 0, retryDelayMs: undefined };
    await ports.messages.settle([settleAttempt(record, attempt, inputs)]);
    const background = anIdleBackground();

    await ports.clock.advance(limits.ringAheadMs);
    await ringOnce(ports, background, allShards, 100);
    await background.tasks.get("follow up")?.();

    expect((await readIn(ports, record.message, "delivered")).outbox).toEqual([]);
  });

  it("rings no more than its limit, and says how many", async () => {
    const ports = open();
    for (let i = 0; i < 5; i++) await insert(ports);
    await ports.clock.advance(limits.ringAheadMs);

    const round = (): Promise<number> => ringOnce(ports, anIdleBackground(), allShards, 3);

    expect([await round(), await round(), await round()]).toEqual([3, 2, 0]);
  });
});
