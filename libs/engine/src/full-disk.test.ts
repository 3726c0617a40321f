import { beforeEach, describe, expect, it } from "@jest/globals";
import {
  allShards,
  childId,
  defaultPlan,
  failureCallbackId,
  isFault,
  parentOf,
  queueId,
  runId,
  type RunIn,
  runMessageId,
  scheduleId,
  settleAttempt,
} from "@posthaste/domain";
import { isStoreError } from "@posthaste/ports";
import {
  aCallbackPlan,
  aCommand,
  anAnswer,
  anAttempt,
  aPolicy,
  aRunId,
  aScheduleCommand,
  aStartCommand,
  aStepCommand,
  aTenant,
  someEndpoints,
  virtualClock,
} from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { cancelMessages } from "./bulk/cancel.ts";
import { beginBulkAction } from "./bulk/bulk-actions.ts";
import { retryLetters } from "./bulk/retry-letters.ts";
import { followUp } from "./follow-up/follow-up.ts";
import { pauseFlowKey, pinFlowKey } from "./lanes/flow-keys.ts";
import { endQueue, putQueue } from "./lanes/queues.ts";
import { insert, insertClaimed, open, type Ports, read } from "./opened.fixture.ts";
import { expandStored } from "./publish/fan-out.ts";
import { publish, publishMany } from "./publish/intake.ts";
import { addToGroup, removeFromGroup } from "./publish/url-groups.ts";
import { appendSteps } from "./runs/append.ts";
import { endRun, failDelivered } from "./runs/end.ts";
import { invoke } from "./runs/invoke.ts";
import { notifyRun } from "./runs/notify.ts";
import { restartRun, resumeRun } from "./runs/resume.ts";
import { startRun } from "./runs/start.ts";
import { placeWait } from "./runs/waits.ts";
import { pauseSchedule, putSchedule } from "./schedules/change.ts";
import { fireSchedules } from "./schedules/fire.ts";

const gibibyte = 1024 ** 3;
const group = "g";
const queue = "q";
const event = "order.paid";
const body = new TextEncoder().encode("{}");
const unchanged = { headers: [], policy: {} };
const scheduleKey = { tenant: aTenant, id: scheduleId("scd_1") };
const toGroup = aCommand({ destination: { kind: "group", name: group } });

let ports: Ports;
let dataDir: string;
let freeBytes: number;

beforeEach(() => {
  freeBytes = gibibyte;
  dataDir = temporaryFolder();
  const space = () => ({ totalBytes: 10 * gibibyte, freeBytes });
  ports = open(virtualClock(), { dataDir, reserveBytes: 0, space });
});

/** Fills the disk. The store checks it once a second, when new work comes. */
async function fillDisk(): Promise<void> {
  freeBytes = 1;
  await ports.clock.advance(1_001);
  await publish(ports, aCommand());
  await ports.clock.advance(0);
}

const changing = () => ({
  ...ports,
  random: { text: (n: number) => "u".repeat(n), fraction: () => 0 },
});
const schedule = (id = scheduleKey.id) =>
  putSchedule(changing(), { command: aScheduleCommand("* * * * *"), id }, defaultPlan);

const anInvocation = {
  ...aCommand({ body }),
  run: {
    kind: "invoke",
    child: { kind: "start", id: runId("child"), features: [], headers: [] },
    answer: aStepCommand({ role: "result", step: 1 }),
    step: { stepId: 1, stepType: "Invoke" },
  } as const,
};
const aWait = {
  command: aStepCommand({ role: "result", step: 1 }),
  event,
  timeoutMs: 60_000,
  step: { stepId: 1, stepType: "Wait" },
  waiter: { url: "https://endpoint.example/workflow", headers: {} },
};

async function theRun() {
  const run = await ports.runs.get({ tenant: aTenant, id: aRunId });
  if (!run) throw new Error("it was started");
  return run;
}

async function aFailedRun(): Promise<RunIn<"failed">> {
  await startRun(ports, aStartCommand());
  const { root } = await theRun();
  const id = runMessageId(root, "start");
  const [record] = await ports.records.get(aTenant, [id]);
  if (!record) throw new Error("it is delivered");
  const item = { kind: "run", says: "failed", attempt: 1, endedAt: ports.clock.now() } as const;
  await failDelivered(ports, record.message, { ...item, reason: "retries_exhausted" });
  const run = await theRun();
  if (run.state.kind !== "failed") throw new Error("it has not failed");
  return { ...run, state: run.state };
}

/** Inserts a message whose only attempt has failed. */
async function aFailure() {
  const plan = aCallbackPlan({ url: "https://callback.example/" });
  const policy = aPolicy({ retriesMax: 0, callback: plan, failureCallback: plan });
  const record = await insertClaimed(ports, { policy });
  const attempt = anAttempt(anAnswer(500), { endedAt: ports.clock.now() });
  return { record, settlement: settleAttempt(record, attempt, { chance: 0, retryDelayMs: 1 }) };
}

type Case = readonly [what: string, arrange: () => Promise<() => Promise<unknown>>];

const goingOn: readonly Case[] = [
  [
    "children of a group publish",
    async () => {
      await addToGroup(ports.groups, aTenant, group, someEndpoints(3), defaultPlan);
      const made = await publish(ports, toGroup);
      if (isFault(made) || "messageId" in made) throw new Error("it goes to a group");
      const { messageId } = made.childAt(0);
      const parent = parentOf(messageId)?.parent ?? messageId;
      return async () => {
        await expandStored(ports, aTenant, parent);
        const ids = [0, 1, 2].map((index) => childId(parent, index));
        expect(await ports.records.get(aTenant, ids)).not.toContain(undefined);
      };
    },
  ],
  [
    "a cancellation of children that are not made yet",
    async () => {
      await addToGroup(ports.groups, aTenant, group, someEndpoints(3), defaultPlan);
      const made = await publish(ports, toGroup);
      if (isFault(made) || "messageId" in made) throw new Error("it goes to a group");
      const { messageId } = made.childAt(2);
      return async () =>
        expect(await cancelMessages(ports, aTenant, [messageId])).toEqual([messageId]);
    },
  ],
  [
    "an outcome, its callbacks and its dead letter",
    async () => {
      const { record, settlement } = await aFailure();
      return async () => {
        const [settled] = await ports.records.settle([settlement]);
        expect(settled).toMatchObject({ kind: "ok" });
        const { message, append } = settlement;
        await followUp(ports, [{ message, outbox: append }]);
        const callback = failureCallbackId(record.message.id);
        expect(await ports.records.get(aTenant, [callback])).not.toContain(undefined);
        expect(await ports.deadLetters.count(aTenant, 10)).toBe(1);
      };
    },
  ],
  [
    "a retry",
    async () => {
      const record = await insertClaimed(ports, { policy: aPolicy({ retriesMax: 3 }) });
      const attempt = anAttempt(anAnswer(500), { endedAt: ports.clock.now() });
      const settlement = settleAttempt(record, attempt, { chance: 0, retryDelayMs: 1 });
      return async () => {
        await ports.records.settle([settlement]);
        expect((await read(ports, record.message))?.state.kind).toBe("held");
      };
    },
  ],
  [
    "a dead letter that is retried",
    async () => {
      const { settlement } = await aFailure();
      await ports.records.settle([settlement]);
      const { message, append } = settlement;
      await followUp(ports, [{ message, outbox: append }]);
      const { items } = await ports.deadLetters.list(
        aTenant,
        {},
        { limit: 1, order: "earliestFirst" },
      );
      const ids = items.map(({ id }) => id);
      const tenant = { id: aTenant, plan: defaultPlan };
      const change = { overrides: unchanged, refuse: () => undefined };
      return async () => expect(await retryLetters(ports, tenant, ids, change)).toHaveLength(1);
    },
  ],
  [
    "the next in a queue",
    async () => {
      for (let n = 0; n < 2; n++) await insert(ports, { queue: queueId(aTenant, queue) });
      const look = () => ports.queues.admit([queueId(aTenant, queue)]);
      const [first] = await look();
      await cancelMessages(
        ports,
        aTenant,
        (first?.hints ?? []).map(({ id }) => id),
      );
      return async () => expect(await look()).toMatchObject([{ given: 1 }]);
    },
  ],
  [
    "a pause and a deletion of a queue",
    async () => {
      await insert(ports, { queue: queueId(aTenant, queue) });
      return async () => {
        const change = { tenant: aTenant, name: queue, paused: true };
        expect(await putQueue(ports, change, defaultPlan)).toBeUndefined();
        await endQueue(ports, aTenant, queue);
        expect(await ports.queues.get(aTenant, queue)).toBeUndefined();
      };
    },
  ],
  [
    "a pause of a flow key, and a pin",
    async () => async () => {
      await pauseFlowKey(ports, aTenant, "k");
      await pinFlowKey(ports, aTenant, "k", { parallelism: 1 });
      const [lane] = await ports.flowLanes.list(aTenant, "", 1);
      expect(lane).toMatchObject({ paused: true, limits: { parallelism: 1 } });
    },
  ],
  [
    "a slot of a schedule",
    async () => {
      await schedule();
      await ports.clock.advance(60_000);
      return async () => {
        const { rung } = await ports.alarms.ring(allShards, 100);
        const due = rung.flatMap((each) => (each.kind === "schedule" ? each.schedule : []));
        await fireSchedules(ports, due);
        const [fired] = await ports.schedules.get([scheduleKey]);
        expect(fired?.last?.messages).toHaveLength(1);
      };
    },
  ],
  [
    "a pause and a deletion of a schedule",
    async () => {
      await schedule();
      return async () => {
        expect(await pauseSchedule(changing(), scheduleKey)).toBeUndefined();
        await ports.schedules.remove(scheduleKey);
        expect(await ports.schedules.count(aTenant)).toBe(0);
      };
    },
  ],
  [
    "an endpoint that is removed from a group",
    async () => {
      await addToGroup(ports.groups, aTenant, group, someEndpoints(3), defaultPlan);
      const { name = "" } = someEndpoints(1)[0] ?? {};
      return () => removeFromGroup(ports.groups, aTenant, group, [{ name }]);
    },
  ],
  [
    "a bulk action that cancels",
    async () => async () => {
      const work = { kind: "cancel", filter: {} } as const;
      const begin = { isWorkedHere: true, total: 0 };
      expect(await beginBulkAction(ports, aTenant, work, begin)).toMatchObject({ isNew: true });
    },
  ],
  [
    "a step of a run",
    async () => {
      await startRun(ports, aStartCommand());
      const step = aStepCommand({ role: "result", step: 1 });
      return async () => expect(await appendSteps(ports, [step])).toHaveLength(1);
    },
  ],
  [
    "a run that a step starts",
    async () => {
      await startRun(ports, aStartCommand());
      return async () => {
        expect(await invoke(ports, anInvocation)).toMatchObject({ deduplicated: false });
        const child = { tenant: aTenant, id: runId("child") };
        expect(await ports.runs.get(child)).toBeDefined();
      };
    },
  ],
  [
    "an event that a run waits for",
    async () => {
      await startRun(ports, aStartCommand());
      await placeWait(ports, aWait);
      const run = await theRun();
      return async () => expect(await notifyRun(ports, run, event, body, true)).toHaveLength(1);
    },
  ],
  [
    "a cancellation of a run",
    async () => {
      await startRun(ports, aStartCommand());
      return async () => expect(await endRun(ports, { tenant: aTenant, id: aRunId })).toBe("now");
    },
  ],
  [
    "a failed run that is resumed",
    async () => {
      const failed = await aFailedRun();
      return async () =>
        expect(isFault(await resumeRun(ports, failed, runId("resumed"), unchanged))).toBe(false);
    },
  ],
  [
    "a failed run that is restarted",
    async () => {
      const failed = await aFailedRun();
      return async () =>
        expect(isFault(await restartRun(ports, failed, runId("again"), unchanged))).toBe(false);
    },
  ],
];

const isNew: readonly Case[] = [
  ["a message", async () => () => publish(ports, aCommand())],
  [
    "a message with a deduplication id",
    async () => () => publish(ports, aCommand({ deduplication: { kind: "explicit", id: "a" } })),
  ],
  ["a batch", async () => () => publishMany(ports, [aCommand(), aCommand()])],
  [
    "a message to a group",
    async () => {
      await addToGroup(ports.groups, aTenant, group, someEndpoints(3), defaultPlan);
      return () => publish(ports, toGroup);
    },
  ],
  [
    "a run",
    async () => {
      const run = { kind: "start", id: runId("other"), features: [], headers: [] } as const;
      return () => startRun(ports, aStartCommand({ run }));
    },
  ],
  ["a schedule", async () => () => schedule(scheduleId("scd_2"))],
  [
    "a schedule that is replaced",
    async () => {
      await schedule();
      return () => schedule();
    },
  ],
  [
    "endpoints of a group",
    async () => () => addToGroup(ports.groups, aTenant, group, someEndpoints(4), defaultPlan),
  ],
  [
    "an event that is kept for a later wait",
    async () => {
      await startRun(ports, aStartCommand());
      const run = await theRun();
      return () => notifyRun(ports, run, event, body, true);
    },
  ],
];

describe("a disk that is nearly full", () => {
  it.each(goingOn)("goes on with %s", async (_, arrange) => {
    const act = await arrange();
    await fillDisk();

    await act();
  });

  it("takes on nothing that is new", async () => {
    const asked = new Map<string, () => Promise<unknown>>();
    for (const [what, arrange] of isNew) asked.set(what, await arrange());
    await fillDisk();

    const taken: string[] = [];
    for (const [what, act] of asked) {
      const answer = await act().catch((error: unknown) => error);
      if (!isStoreError(answer) || answer.code !== "disk_full") taken.push(what);
    }

    expect(taken).toEqual([]);
  });
});
