/** The ports over the records, assembled. */
import { type RecordPorts } from "@posthaste/ports";
import { type Connection } from "../connection.ts";
import { createFanOuts } from "../fan-outs/fan-outs.ts";
import { fanOutIndexes, fanOutsName, type StoredFanOut } from "../fan-outs/stored-fan-out.ts";
import { type Index } from "../indexes.ts";
import { createQueues } from "../queues/queues.ts";
import { queueIndexes } from "../queues/stored-queue.ts";
import { countLive, createBacklogs } from "./backlog.ts";
import { createCancel, createDrop } from "./cancel.ts";
import { createClaim } from "./claim.ts";
import { createClear } from "./clear.ts";
import { createMatching } from "./matching.ts";
import { createDueSince } from "./due-since.ts";
import { createHeads } from "../lanes/heads.ts";
import { createInsert } from "./insert.ts";
import { createKeptBodies } from "./kept-bodies.ts";
import { createLanesByHand } from "../lanes/by-hand.ts";
import { createRest, createRows, laneIndexes, lanesName } from "../lanes/lanes.ts";
import { createBulkActions } from "../bulk-actions/bulk-actions.ts";
import { bulkActionIndexes } from "../bulk-actions/stored.ts";
import { endsOfLog } from "../message-log/message-log.ts";
import { createRunLog } from "../runs/run-log.ts";
import { createRuns } from "../runs/runs.ts";
import { withRuns, runIndexes } from "../runs/store.ts";
import { scheduleIndexes } from "../schedules/stored.ts";
import { bodiesName, bodyIndexes, type StoredBody } from "./stored-body.ts";
import { type StoredLane } from "../lanes/stored-lane.ts";
import { createNextAlarm } from "./next-alarm.ts";
import { type Oldest } from "../oldest.ts";
import { createPromote, createSlotHolders } from "../lanes/promote.ts";
import { createPull } from "./pull.ts";
import { createReading } from "./read.ts";
import { createRelease } from "./release.ts";
import { createRemoveFinished } from "./remove.ts";
import { createRenew } from "./renew.ts";
import { createRing } from "./ring.ts";
import { type Store } from "./store.ts";
import { createSettle } from "./settle.ts";
import { collectionName, messageIndexes, type StoredRecord } from "./stored.ts";

export const recordIndexes: readonly Index[] = [
  ...messageIndexes,
  ...bodyIndexes,
  ...laneIndexes,
  ...queueIndexes,
  ...fanOutIndexes,
  ...scheduleIndexes,
  ...bulkActionIndexes,
  ...runIndexes,
];

/** `aside`: connections for renewals only. `inserting` wraps each insert. */
export function createRecordPorts(
  connection: Connection,
  aside: Connection,
  inserting: Oldest["during"] = (task) => task(),
): RecordPorts {
  const store = storeOf(connection);
  const insert = createInsert(store);
  const storeWithRuns = withRuns(store, insert);
  const reading = createReading(store);
  const claim = createClaim(store, reading);
  const renew = createRenew(aside);
  const clear = createClear(store);
  const rows = createRows(store);
  const heads = createHeads(store);
  const promote = createPromote(store);
  const rest = createRest(store);
  const backlogs = createBacklogs(connection.clock, countLive(store));

  return {
    records: {
      insert: (inserts) => {
        backlogs.inserting(inserts.map(({ record }) => record));
        return inserting(() => insert(inserts));
      },
      claim: async (ids, owner) => {
        const claimed = await claim([...new Set(ids)].map((id) => ({ id, owner })));
        return claimed.filter((record) => record !== undefined);
      },
      pull: createPull(store),
      renew: async (claims) => {
        const held = await renew(claims);
        return claims.filter((_, n) => !held[n]).map(({ id }) => id);
      },
      settle: createSettle(store),
      clear: async (items) => {
        await clear(items);
      },
      cancel: createCancel(store),
      drop: createDrop(store),
      release: createRelease(store),
      matching: createMatching(store),
      get: (tenant, ids) => reading.get(ids.map((id) => ({ tenant, id }))),
      getSome: reading.getSome,
      progress: reading.progress,
      removeFinished: createRemoveFinished(store, endsOfLog(connection)),
      dueSince: createDueSince(store),
      backlog: backlogs.of,
    },
    keptBodies: createKeptBodies(store, reading),
    alarms: { ring: createRing(storeWithRuns, reading), next: createNextAlarm(storeWithRuns) },
    flowLanes: {
      ...createLanesByHand(store),
      rows: async (ids) => (await rows(ids)).filter((row) => row !== undefined),
      heads: async (lane, n) => only(await heads([{ lane, n }])),
      promote: async (lane, ids, grantUntil, window) =>
        only(await promote([{ lane, ids, grantUntil, window }])),
      rest: async (lane, seq, wakeAt, window) => only(await rest([{ lane, seq, wakeAt, window }])),
      slotHolders: createSlotHolders(store),
    },
    queues: createQueues(store, reading),
    bulkActions: createBulkActions(connection),
    runs: createRuns(storeWithRuns),
    runLog: createRunLog(storeWithRuns),
    fanOuts: createFanOuts(store),
  };
}

export const storeOf = (connection: Connection): Store => ({
  ...connection,
  messages: connection.collection<StoredRecord>(collectionName),
  bodies: connection.collection<StoredBody>(bodiesName),
  lanes: connection.collection<StoredLane>(lanesName),
  fanOuts: connection.collection<StoredFanOut>(fanOutsName),
  token: () => connection.random.text(tokenLength),
});

/** 59 bits: the tokens of two batches that may still be looked for never collide. */
const tokenLength = 10;

function only<T>(answers: readonly T[]): T {
  const [answer] = answers;
  if (answers.length !== 1) throw new Error("one question, one answer");
  return answer as T;
}
