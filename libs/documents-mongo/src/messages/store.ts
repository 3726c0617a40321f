/** The MessageStore port, assembled. */
import { type MessageStore } from "@posthaste/ports";
import { type Connection } from "../connection.ts";
import { type Index } from "../indexes.ts";
import { createBacklog } from "./backlog.ts";
import { createCancel } from "./cancel.ts";
import { createClaim } from "./claim.ts";
import { createClear } from "./clear.ts";
import { createExpanded } from "./expanded.ts";
import { createHeads } from "./heads.ts";
import { createInsert } from "./insert.ts";
import { createRest, createRows, laneIndexes, lanesName } from "./lanes.ts";
import { type StoredLane } from "./stored-lane.ts";
import { createNextAlarm } from "./next-alarm.ts";
import { createPromote, createSlotHolders } from "./promote.ts";
import { createPull } from "./pull.ts";
import { createReading } from "./read.ts";
import { createRemoveFinished } from "./remove.ts";
import { createRenew } from "./renew.ts";
import { createRing } from "./ring.ts";
import { type Rooms } from "./rooms.ts";
import { createSettle } from "./settle.ts";
import { collectionName, messageIndexes, type StoredRecord } from "./stored.ts";

export const messageStoreIndexes: readonly Index[] = [...messageIndexes, ...laneIndexes];

/** `aside`: connections that renewals have for themselves. */
export function createMessageStore(connection: Connection, aside: Connection): MessageStore {
  const rooms = roomsOf(connection);
  const reading = createReading(rooms);
  const claim = createClaim(rooms, reading);
  const renew = createRenew(aside);
  const clear = createClear(rooms);
  const rows = createRows(rooms);
  const heads = createHeads(rooms);
  const promote = createPromote(rooms);
  const rest = createRest(rooms);

  return {
    insert: createInsert(rooms),
    claim: async (ids, owner) => {
      const claimed = await claim([...new Set(ids)].map((id) => ({ id, owner })));
      return claimed.filter((record) => record !== undefined);
    },
    pull: createPull(rooms),
    renew: async (claims) => {
      const held = await renew(claims);
      return claims.filter((_, n) => !held[n]).map(({ id }) => id);
    },
    settle: createSettle(rooms),
    clear: async (items) => {
      await clear(items);
    },
    cancel: createCancel(rooms, reading),
    get: (tenant, ids) => reading.get(ids.map((id) => ({ tenant, id }))),
    expanded: createExpanded(rooms),
    ring: createRing(rooms, reading),
    nextAlarm: createNextAlarm(rooms),
    removeFinished: createRemoveFinished(rooms),
    lanes: async (ids) => (await rows(ids)).filter((row) => row !== undefined),
    heads: async (lane, n) => only(await heads([{ lane, n }])),
    promote: async (lane, ids, grantUntil, window) =>
      only(await promote([{ lane, ids, grantUntil, window }])),
    rest: async (lane, seq, wakeAt, window) => only(await rest([{ lane, seq, wakeAt, window }])),
    slotHolders: createSlotHolders(rooms),
    backlog: createBacklog(rooms),
  };
}

export const roomsOf = (connection: Connection): Rooms => ({
  ...connection,
  messages: connection.collection<StoredRecord>(collectionName),
  lanes: connection.collection<StoredLane>(lanesName),
  token: () => connection.random.text(tokenLength),
});

/** 59 bits: two batches that may still be looked for never share one. */
const tokenLength = 10;

function only<T>(answers: readonly T[]): T {
  const [answer] = answers;
  if (answers.length !== 1) throw new Error("one question, one answer");
  return answer as T;
}
