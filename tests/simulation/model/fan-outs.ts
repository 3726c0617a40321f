/** Fan-outs in memory: each keeps the body of its children and reserves their places. */
import {
  advanceTo,
  type FanOut,
  flowsOf,
  type GroupChunkId,
  isExpanding,
  isKnownFormat,
  type Message,
  type MessageId,
  parentOf,
  type QueueId,
} from "@posthaste/domain";
import { type FanOuts, type Inserted } from "@posthaste/ports";
import { armedRows, type ArmedRows } from "./armed-rows.ts";
import { type ModelFlowLanes } from "./flow-lanes.ts";
import { type ModelQueues } from "./queues.ts";
import { type Rows } from "./rows.ts";

/** The parts of the record store that fan-outs use. */
export type Around = {
  readonly now: () => number;
  readonly rows: Pick<Rows, "bury" | "isBuried">;
  readonly lanes: Pick<ModelFlowLanes, "configure">;
  readonly queues: Pick<ModelQueues, "reserve" | "wake">;
};

export type ModelFanOuts = ArmedRows<FanOut> & {
  readonly port: FanOuts;
  readonly get: (id: MessageId) => FanOut | undefined;
  readonly values: () => Iterable<FanOut>;
  /** Returns the place in line: the one that the fan-out has reserved, or the next. */
  readonly placeOf: (message: Message) => number;
  readonly queuePlaceOf: (message: Message) => number | undefined;
  /** Returns the lowest place in the queue after `after` whose child is not made yet. */
  readonly firstUnmade: (queue: QueueId, after: number) => number | undefined;
  readonly childMade: (fanOut: MessageId) => void;
  readonly childGone: (fanOut: MessageId) => void;
  readonly removeEnded: (mine: ReadonlySet<number>, endedBefore: number) => number;
  readonly isInUse: (chunk: GroupChunkId) => boolean;
};

type Row = {
  readonly fanOut: FanOut;
  readonly first: number;
  readonly queuePlace: number | undefined;
};

export function modelFanOuts({ now, rows, lanes, queues }: Around): ModelFanOuts {
  const fanOuts = new Map<MessageId, Row>();
  const childrenOf = new Map<MessageId, number>();
  let places = 0;

  const all = (): IteratorObject<FanOut> => fanOuts.values().map(({ fanOut }) => fanOut);

  const insert = (fanOut: FanOut): Inserted => {
    if (fanOuts.has(fanOut.id) || rows.isBuried(fanOut.id)) return "known";
    for (const flow of flowsOf(fanOut).sets) lanes.configure(flow);
    const { endpointCount, queue } = fanOut;
    const queuePlace =
      queue === undefined ? undefined : queues.reserve(fanOut, queue, endpointCount);
    fanOuts.set(fanOut.id, { fanOut, first: places + 1, queuePlace });
    places += endpointCount;
    return "inserted";
  };

  const change = (id: MessageId, next: Partial<FanOut>): void => {
    const row = fanOuts.get(id);
    if (row) fanOuts.set(id, { ...row, fanOut: { ...row.fanOut, ...next } });
  };

  const port: FanOuts = {
    expanding: async (tenant, after, before, limit) =>
      all()
        .filter(
          (fanOut) => fanOut.tenant === tenant && isExpanding(fanOut) && isKnownFormat(fanOut),
        )
        .map(({ id }) => id)
        .filter((id) => id > (after ?? "") && id < before)
        .toArray()
        .toSorted((a, b) => (a < b ? -1 : 1))
        .slice(0, limit),
    insert: async (fanOut) => insert(fanOut),
    get: async (tenant, ids) =>
      ids.map((id) => {
        const fanOut = fanOuts.get(id)?.fanOut;
        return fanOut?.tenant === tenant && isKnownFormat(fanOut) ? fanOut : undefined;
      }),
    advance: async (id, from, upTo, done) => {
      const fanOut = fanOuts.get(id)?.fanOut;
      if (!fanOut || !isKnownFormat(fanOut)) return false;
      if (!isExpanding(fanOut) || fanOut.state.upTo !== from) return false;
      change(id, advanceTo(upTo, done, now()));
      if (fanOut.queue !== undefined) queues.wake(fanOut.queue);
      return true;
    },
  };

  return {
    ...armedRows(now, all, ({ id }, wakeAt) => change(id, { wakeAt })),
    port,
    get: (id) => fanOuts.get(id)?.fanOut,
    values: all,
    placeOf: ({ id, bodyOf }) => {
      const keeper = bodyOf && fanOuts.get(bodyOf);
      return keeper ? keeper.first + (parentOf(id)?.index ?? 0) : ++places;
    },
    queuePlaceOf: ({ id, bodyOf }) => {
      const first = bodyOf && fanOuts.get(bodyOf)?.queuePlace;
      return first === undefined ? undefined : first + (parentOf(id)?.index ?? 0);
    },
    firstUnmade: (queue, after) => {
      const unmade = [...fanOuts.values()].flatMap(({ fanOut, queuePlace = 0 }) =>
        fanOut.queue === queue && isExpanding(fanOut) && queuePlace > after
          ? queuePlace + fanOut.state.upTo
          : [],
      );
      return unmade.length > 0 ? Math.min(...unmade) : undefined;
    },
    childMade: (id) => void childrenOf.set(id, (childrenOf.get(id) ?? 0) + 1),
    childGone: (id) => void childrenOf.set(id, (childrenOf.get(id) ?? 1) - 1),
    removeEnded: (mine, endedBefore) => {
      const gone = all()
        .filter(({ shard }) => mine.has(shard))
        .filter(({ state }) => state.kind === "expanded" && state.endedAt < endedBefore)
        .filter(({ id }) => (childrenOf.get(id) ?? 0) === 0)
        .toArray();
      for (const { id } of gone) {
        fanOuts.delete(id);
        rows.bury(id);
      }
      return gone.length;
    },
    isInUse: (chunk) => all().some((each) => isExpanding(each) && each.chunks.includes(chunk)),
  };
}
