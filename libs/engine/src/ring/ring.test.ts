import { describe, expect, it } from "@jest/globals";
import {
  type AlarmSource,
  alarmSources,
  allShards,
  flowLaneId,
  type InState,
  type LaneId,
  limits,
  type Policy,
  runId,
  runKey,
  settleAttempt,
} from "@posthaste/domain";
import { type RunStore } from "@posthaste/ports";
import { aCallbackPlan, anAnswer, anAttempt, aPolicy, aTenant, newId } from "@posthaste/testing";
import {
  insert,
  insertClaimed,
  listen,
  open,
  type Ports,
  readIn,
  rest,
} from "../opened.fixture.ts";
import { followUpSome } from "../follow-up/follow-up.ts";
import { type Background, type BatchKind, ringOnce, type Round, sourcesToRing } from "./ring.ts";
import { ringRuns } from "../runs/ring.ts";

const flow = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };

/** Returns a background that runs nothing and records the calls made to it. */
function anIdleBackground(): Background & {
  readonly lanes: readonly LaneId[];
  readonly tasks: ReadonlyMap<string, () => Promise<void>>;
} {
  const lanes: LaneId[] = [];
  const tasks = new Map<string, () => Promise<void>>();
  return {
    lanes,
    tasks,
    serve: (lane) => void lanes.push(lane),
    expand: (parent, task) => void tasks.set(`expand ${parent}`, task),
    followUpLater: (_, id) => void tasks.set(`later ${id}`, async () => undefined),
    mayRun: () => true,
    runBatch: (kind, task) => void tasks.set(`${kind} ${tasks.size}`, task),
  };
}

/** Inserts a record whose callback is not made yet, and whose next attempt is an hour away. */
async function retriedLater(ports: Ports, policy: Policy): Promise<InState<"claimed">> {
  const record = await insertClaimed(ports, { policy });
  const answer = anAnswer(503, { headers: [["Retry-After", "3600"]] });
  const attempt = anAttempt(answer, { endedAt: ports.clock.now() });
  await ports.records.settle([settleAttempt(record, attempt, { chance: 0, retryDelayMs: 0 })]);
  return record;
}

describe("a round of ringing", () => {
  it("hints due messages, grants the woken lanes, and leaves other messages alone", async () => {
    const ports = open();
    const heard = await listen(ports);
    const held = await insert(ports, { delayMs: 1_000 });
    await insert(ports, { delayMs: 60_000 });
    await insert(ports, { flow });
    const background = anIdleBackground();

    await ports.clock.advance(1_000);
    const rung = await ringOnce(ports, background, allShards, 100, alarmSources);
    await rest(ports);

    expect(rung).toEqual({ rang: 2, more: new Set() });
    expect(heard.due.map(({ id }) => id)).toEqual([held.id]);
    expect(background.lanes).toEqual([flowLaneId(aTenant, flow.key)]);
  });

  it("puts a held message with flow control into its line when its time has come, and grants the lane", async () => {
    const ports = open();
    const held = await insert(ports, { flow, delayMs: 1_000 });
    const background = anIdleBackground();

    await ports.clock.advance(1_000);
    await ringOnce(ports, background, allShards, 100, alarmSources);

    await readIn(ports, held, "waiting");
    expect(background.lanes).toEqual([held.flow]);
  });

  it("works through the outbox that was not cleared in 30 s", async () => {
    const ports = open();
    const policy = aPolicy({ callback: aCallbackPlan() });
    const record = await insertClaimed(ports, { policy });
    const attempt = anAttempt(anAnswer(200), { endedAt: ports.clock.now() });
    const inputs = { chance: 0, retryDelayMs: undefined };
    await ports.records.settle([settleAttempt(record, attempt, inputs)]);
    const background = anIdleBackground();

    await ports.clock.advance(limits.ringAheadMs);
    await ringOnce(ports, background, allShards, 100, alarmSources);
    await background.tasks.get("followUp 0")?.();

    expect((await readIn(ports, record.message, "delivered")).outbox).toEqual([]);
  });

  it("puts the outbox of an unfinished message in line by its id, however full the batches are", async () => {
    const ports = open();
    const policy = aPolicy({ callback: aCallbackPlan() });
    const { message } = await retriedLater(ports, policy);
    const background = { ...anIdleBackground(), mayRun: () => false };

    await ports.clock.advance(limits.ringAheadMs);
    await ringOnce(ports, background, allShards, 100, alarmSources);

    expect([...background.tasks.keys()]).toEqual([`later ${message.id}`]);
    expect(await followUpSome(ports, aTenant, [message.id])).toEqual([]);
    expect((await readIn(ports, message, "held")).outbox).toEqual([]);
  });

  it("leaves follow-ups alone while enough of them are worked, and so any other kind", () => {
    const without = (...left: readonly AlarmSource[]): readonly AlarmSource[] =>
      alarmSources.filter((source) => !left.includes(source));
    expect(sourcesToRing(anIdleBackground())).toEqual(alarmSources);
    const fullOf = (full: BatchKind) => ({ mayRun: (kind: BatchKind) => kind !== full });
    expect(sourcesToRing(fullOf("followUp"))).toEqual(without("followUp", "fact"));
    expect(sourcesToRing(fullOf("schedule"))).toEqual(without("schedule"));
    expect(sourcesToRing(fullOf("bulkAction"))).toEqual(without("bulkAction"));
    expect(sourcesToRing(fullOf("run"))).toEqual(without("run"));
  });

  it("works runs whose alarm is due a few at a time, and a failing run stops no other", async () => {
    const ports = open();
    const due = Array.from({ length: 60 }, (_, n) => ({
      key: runKey(aTenant, runId(`run-${n}`), n),
      root: newId(),
    }));
    let under = 0;
    let most = 0;
    const asked: string[] = [];
    const get: RunStore["get"] = async (ref) => {
      most = Math.max(most, ++under);
      await new Promise((resolve) => setImmediate(resolve));
      under--;
      asked.push("key" in ref ? ref.key : ref.id);
      if (asked.length === 3) throw new Error("this one fails");
      return undefined;
    };

    const ringing = ringRuns({ ...ports, runs: { ...ports.runs, get } }, due);

    await expect(ringing).rejects.toThrow("1 of 60 runs");
    expect(asked.toSorted()).toEqual(due.map(({ key }) => key).toSorted());
    expect(most).toBeLessThanOrEqual(25);
  });

  it("rings no more than its limit, and says how many and whether there may be more", async () => {
    const ports = open();
    for (let i = 0; i < 5; i++) await insert(ports);
    await ports.clock.advance(limits.ringAheadMs);

    const round = (): Promise<Round> =>
      ringOnce(ports, anIdleBackground(), allShards, 3, alarmSources);

    expect([await round(), await round(), await round()]).toEqual([
      { rang: 3, more: new Set(["record"]) },
      { rang: 2, more: new Set() },
      { rang: 0, more: new Set() },
    ]);
  });
});
