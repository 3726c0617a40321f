/**
 * Checks which calls resolve only when their write is on the disk: all whose result is answered to a caller of the
 * service. A call of a port that is missing here does not compile.
 */
import { expect, it } from "@jest/globals";
import {
  accept,
  acceptClaimed,
  bulkActionId,
  dlqIdOf,
  flowByHand,
  flowLaneId,
  messageId,
  newBulkAction,
  runId,
  scheduleId,
  settleAttempt,
} from "@posthaste/domain";
import {
  aFanOut,
  aKey,
  aMessage,
  anAnswer,
  anAttempt,
  anOwner,
  aRun,
  aRunId,
  aRunStart,
  aSchedule,
  aScheduleCommand,
  aTenant,
  someEndpoints,
} from "@posthaste/testing";
import { newDirectory, openIn, type Opened } from "./opened.fixture.ts";

type Asked = (store: Opened) => Promise<unknown>;
/** `background`: no caller is answered with its result. */
type Call = "reads" | "background" | Asked;
type Told = {
  readonly [
    Port in
      | "records"
      | "keptBodies"
      | "flowLanes"
      | "fanOuts"
      | "queues"
      | "bulkActions"
      | "runs"
      | "runLog"
      | "alarms"
      | "deadLetters"
      | "groups"
      | "schedules"
      | "tokens"
  ]: { readonly [Name in keyof Opened[Port]]: Call };
};

const id = messageId("msg_1");
const flow = flowByHand(aTenant, "key");
const lane = flowLaneId(aTenant, "key");
const work = { kind: "cancel", filter: {} } as const;
const action = newBulkAction(
  {
    id: bulkActionId("bulk_1"),
    tenant: aTenant,
    work,
    upTo: { id, at: 1 },
    total: 0,
    createdAt: 1,
  },
  1,
);
const schedule = aSchedule("scd_1", aScheduleCommand(), 1);
const claimed = acceptClaimed(aMessage({ id }), anOwner, 1);
const settlement = settleAttempt(claimed, anAttempt(anAnswer(500), { endedAt: 1 }), {
  chance: 0,
  retryDelayMs: 1,
});

const told: Told = {
  records: {
    insert: ({ records }) => records.insert([{ record: accept(aMessage(), 1) }], "new"),
    claim: "background",
    pull: "reads",
    renew: "background",
    settle: ({ records }) => records.settle([settlement]),
    clear: "background",
    cancel: ({ records }) => records.cancel(aTenant, [id]),
    drop: "background",
    release: ({ records }) => records.release(aTenant, id),
    matching: "reads",
    get: "reads",
    getSome: "reads",
    progress: "reads",
    removeFinished: "background",
    dueSince: "reads",
    backlog: "reads",
  },
  keptBodies: { get: "reads", answer: "reads", sweep: "background", diskShare: "reads" },
  flowLanes: {
    rows: "reads",
    list: "reads",
    waiting: "reads",
    pause: ({ flowLanes }) => flowLanes.pause(flow),
    resume: ({ flowLanes }) => flowLanes.resume(flow),
    pin: ({ flowLanes }) => flowLanes.pin(flow, { parallelism: 1 }),
    unpin: ({ flowLanes }) => flowLanes.unpin(lane, { parallelism: true, rate: true }),
    heads: "reads",
    promote: "background",
    keepWindow: ({ flowLanes }) => flowLanes.keepWindow(lane, { startedAt: 1, count: 0 }),
    rest: "background",
    slotHolders: "reads",
  },
  fanOuts: {
    insert: ({ fanOuts }) => fanOuts.insert(aFanOut(), "new"),
    get: "reads",
    expanding: "reads",
    advance: "background",
  },
  queues: {
    make: ({ queues }) => queues.make(aTenant, ["q"], 1),
    put: ({ queues }) => queues.put({ tenant: aTenant, name: "q", paused: true }, 1),
    resume: ({ queues }) => queues.resume(aTenant, "q"),
    get: "reads",
    list: "reads",
    end: ({ queues }) => queues.end(aTenant, "q"),
    admit: "background",
    callsEnded: "background",
    oldestTurn: "reads",
  },
  bulkActions: {
    add: ({ bulkActions }) => bulkActions.add(action, 1),
    move: "background",
    get: "reads",
    list: "reads",
    removeEnded: "background",
  },
  runs: {
    start: ({ runs }) => runs.start(aTenant, aRunId, "new", (use) => aRunStart(use, { now: 1 })),
    resume: ({ runs }) =>
      runs.resume(aTenant, runId("resumed"), { of: aRun(), names: [] }, (use) =>
        aRunStart(use, { now: 1 }),
      ),
    change: ({ runs }) => runs.change({ tenant: aTenant, id: aRunId }, () => ({ verdict: 1 })),
    get: "reads",
    byRoot: "reads",
    byAlias: "reads",
    waiting: "reads",
    part: "reads",
    history: "reads",
    brief: "reads",
    sweep: "background",
  },
  runLog: {
    list: "reads",
    failed: "reads",
    parts: "reads",
    attempts: "reads",
    append: ({ runLog }) => runLog.append([]),
  },
  alarms: { ring: "background", next: "reads" },
  deadLetters: {
    insert: ({ deadLetters }) => deadLetters.insert([]),
    list: "reads",
    count: "reads",
    get: "reads",
    remove: ({ deadLetters }) => deadLetters.remove(aTenant, [dlqIdOf(id, 1)]),
    sweep: "background",
  },
  groups: {
    get: "reads",
    list: "reads",
    count: "reads",
    endpoints: "reads",
    replace: ({ groups }) => groups.replace(aTenant, "g", undefined, someEndpoints(1), "new"),
    configure: ({ groups }) => groups.configure(aTenant, "g", []),
    remove: ({ groups }) => groups.remove(aTenant, "g"),
    sweep: "background",
  },
  schedules: {
    put: ({ schedules }) => schedules.put({ ...schedule, body: new Uint8Array() }, "new"),
    move: "background",
    get: "reads",
    list: "reads",
    count: "reads",
    remove: ({ schedules }) => schedules.remove({ tenant: aTenant, id: scheduleId("scd_1") }),
  },
  tokens: {
    claim: "reads",
    confirm: ({ tokens }) => tokens.confirm([{ key: aKey("a"), id }]),
    acquire: "background",
    use: "background",
    hold: "background",
    release: "background",
    restore: "background",
    resetRate: "background",
    spend: "background",
    peek: "reads",
  },
};

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** Opens a store whose syncs wait until they are let go. */
function opened() {
  const held: (() => void)[] = [];
  let isHolding = false;
  const sync = {
    run: async () => {
      if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
    },
    runNow: () => undefined,
    close: () => undefined,
  };
  const hold = (): void => void (isHolding = true);
  const letGo = (): void => {
    isHolding = false;
    for (const go of held.splice(0)) go();
  };
  return { store: openIn(newDirectory(), { sync }), held, hold, letGo };
}

it("a write is on the disk before its caller is answered", async () => {
  const { held, hold, letGo, store } = opened();
  await store.records.insert([{ record: accept(aMessage({ id: messageId("msg_2") }), 1) }], "new");

  const early: string[] = [];
  for (const [port, calls] of Object.entries<Readonly<Record<string, Call>>>(told))
    for (const [name, call] of Object.entries(calls)) {
      if (typeof call === "string") continue;
      let isTold = false;
      hold();
      const asked = call(store).then(() => (isTold = true));
      // Ends with the turn of the write: each of these calls writes.
      for (let n = 0; held.length === 0 && !isTold && n < 100; n++) await turns(1);
      await turns(3);
      if (isTold || held.length === 0) early.push(`${port}.${name}`);
      letGo();
      await asked;
    }

  expect(early).toEqual([]);
});
