/**
 * The RunStore port: parts, then the head by its version, then the records. What a process leaves between the last two is
 * found by the head's alarm (redeliver.ts).
 */
import {
  entriesBetween,
  deliveryOf,
  type HistoryEntry,
  type InRun,
  isActive,
  isAnswered,
  limits,
  type Message,
  type MessageId,
  type PartName,
  partOf,
  type Run,
  type RunKey,
  runMessageId,
  wantedOf,
} from "@posthaste/domain";
import {
  type BriefFor,
  type Briefing,
  type Decision,
  type Inherited,
  type Records,
  type RunAddress,
  type RunStore,
  type RunWrite,
  type StartedRun,
  StoreError,
} from "@posthaste/ports";
import { type Collection } from "mongodb";
import { newWrite } from "../change-by-token.ts";
import { insertMissing } from "../insert-missing.ts";
import { type Rooms } from "../messages/rooms.ts";
import { isUnderstood } from "../messages/stored.ts";
import {
  attemptsName,
  alarmOf,
  bodyOf,
  movingPart,
  nameOfPart,
  partFrom,
  partKey,
  placeOfRun,
  partsName,
  runFrom,
  runsName,
  type StoredAttempt,
  type StoredPart,
  type StoredRun,
} from "./stored-run.ts";

/** So many other changes would have to come first, each of which was done. */
const triesMax = 50;
/** A start that is written so long after it looked for a use of its id looks again: that may have been swept meanwhile. */
const lookIsGoodForMs = 20_000;

export type RunRooms = Rooms & {
  readonly runs: Collection<StoredRun>;
  readonly parts: Collection<StoredPart>;
  readonly attempts: Collection<StoredAttempt>;
  readonly insert: Records["insert"];
};

export const runRoomsOf = (rooms: Rooms, insert: Records["insert"]): RunRooms => ({
  ...rooms,
  runs: rooms.collection<StoredRun>(runsName),
  parts: rooms.collection<StoredPart>(partsName),
  attempts: rooms.collection<StoredAttempt>(attemptsName),
  insert,
});

export function createRuns(rooms: RunRooms): RunStore {
  const { again, attempts, parts, runs } = rooms;
  const get = async (address: Address): Promise<Run | undefined> => {
    const stored = await find(rooms, address);
    return stored && runFrom(stored);
  };
  return {
    start: (tenant, id, make) => start<never>(rooms, { tenant, id }, make, nothingFirst),
    resume: (tenant, id, inherited, make) =>
      start(rooms, { tenant, id }, make, (write) => copyParts(rooms, inherited, write)),
    change: (address, decide) => change(rooms, address, decide),
    get,
    byRoot: async (root) => {
      const stored = await findRoot(rooms, root);
      return stored ? runFrom(stored) : undefined;
    },
    byAlias: async (tenant, id) => {
      const filter = { tenant, aliases: id, "state.kind": "active" };
      const stored = await again(() => runs.findOne(filter, { sort: { place: -1 } }));
      return stored ? runFrom(stored) : undefined;
    },
    waiting: async (tenant, event, after, limit) => {
      const filter = {
        tenant,
        events: event,
        ...(after !== undefined && { _id: { $gt: after as RunKey } }),
      };
      const found = await again(() =>
        runs
          .find(filter, { projection: { root: 1 } })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(({ _id: key, root }) => ({ key, root }));
    },
    part: async ({ root }, name) => {
      const part = await again(() => parts.findOne({ _id: partKey(root, name) }));
      return part ? partFrom(part) : undefined;
    },
    history: (run) => entriesOf(rooms, run, 0, run.history.length - 1),
    brief: (deliveries) => brief(rooms, deliveries),
    sweep: async (tenant, endedBefore, limit) => {
      const ended = { tenant, endedAt: { $lt: endedBefore, $exists: true }, ...isUnderstood };
      const found = await again(() =>
        runs
          .find(ended, { projection: { root: 1 } })
          .limit(limit)
          .toArray(),
      );
      const keys = found.map(({ _id }) => _id);
      if (keys.length === 0) return 0;
      // A key may name another run by now, if another sweep was here first. A root never does.
      const roots = found.map(({ root }) => root);
      await again(() => parts.deleteMany({ run: { $in: roots } }));
      await again(() => attempts.deleteMany({ run: { $in: roots } }));
      await again(() => runs.deleteMany({ _id: { $in: keys }, root: { $in: roots } }));
      return keys.length;
    },
  };
}

type Address = RunAddress | Pick<InRun, "key" | "root">;

async function find({ again, runs }: RunRooms, address: Address): Promise<StoredRun | undefined> {
  if ("key" in address) {
    const { key: _id, root } = address;
    return (await again(() => runs.findOne({ _id, root }))) ?? undefined;
  }
  const { tenant, id, createdAt } = address;
  const filter = { tenant, id, ...(createdAt !== undefined && { createdAt }) };
  return (await again(() => runs.findOne(filter, { sort: { generation: -1 } }))) ?? undefined;
}

const findRoot = ({ again, runs }: RunRooms, root: MessageId): Promise<StoredRun | null> =>
  again(() => runs.findOne({ root }));

/** `first`: done before the head, unless it gives up. */
async function start<GivenUp>(
  rooms: RunRooms,
  address: RunAddress,
  make: Parameters<RunStore["start"]>[2],
  first: (write: RunWrite) => Promise<GivenUp | undefined>,
): Promise<StartedRun | GivenUp> {
  for (let tries = 0; tries < triesMax; tries++) {
    const lookedAt = rooms.clock.now();
    const before = await find(rooms, address);
    if (before && before.state.kind === "active") return { kind: "known", run: runFrom(before) };
    const { generation = 0, createdAt = 0 } = before ?? {};
    const write = make({ generation: generation + 1, after: createdAt });
    // What stands under its root is of an earlier try of this start; of an invocation another process may have made it, too.
    const strange = await putParts(rooms, write);
    const other = strange.length > 0 && (await findRoot(rooms, write.run.root));
    if (other) return { kind: "known", run: runFrom(other) };
    await replaceParts(rooms, strange);
    const givenUp = await first(write);
    if (givenUp !== undefined) return givenUp;
    if (rooms.clock.now() - lookedAt > lookIsGoodForMs) continue;
    const { key, ...run } = write.run;
    const head: StoredRun = {
      ...run,
      _id: key,
      writes: [newWrite(rooms.random)],
      place: placeOfRun(run),
      ...alarmOf(write.run),
      ...ahead(rooms, write),
    };
    const known = await insertMissing(rooms.again, rooms.runs, [head]);
    // Its own, if the reply of an earlier try was lost: other changes may have come since.
    if (known.size > 0 && !(await find(rooms, { key, root: run.root }))) continue;
    await rooms.insert(write.deliveries.map((record) => ({ record })));
    return { kind: "started", run: write.run };
  }
  throw new StoreError("overloaded", "too many start the same run at once");
}

const isOurs = async ({ again, runs }: RunRooms, _id: RunKey, write: string) =>
  (await again(() => runs.findOne({ _id, writes: write }, { projection: { _id: 1 } }))) !== null;

/** So many changes may come between a write and the look for it. */
const writesKept = 4;

/** What the records of a write are found by, should this process insert none of them. */
function ahead(
  { clock }: RunRooms,
  { deliveries }: RunWrite,
): Pick<StoredRun, "deliver" | "deliverAt"> {
  if (deliveries.length === 0) return {};
  return { deliver: partsOf(deliveries), deliverAt: clock.now() + limits.ringAheadMs };
}

const partsOf = (deliveries: RunWrite["deliveries"]): PartName[] =>
  deliveries.flatMap(({ message: { run } }) => run?.part ?? []);

async function change<V>(
  rooms: RunRooms,
  address: Address,
  decide: (run: Run) => Decision<V>,
): Promise<V | undefined> {
  for (let tries = 0; tries < triesMax; tries++) {
    const stored = await find(rooms, address);
    if (!stored) return undefined;
    const { verdict, write } = decide(runFrom(stored));
    if (!write) return verdict;
    const strange = await putParts(rooms, write);
    if (!(await swap(rooms, stored, write))) continue;
    await replaceParts(rooms, strange);
    if (write.deliveries.length > 0)
      await rooms.insert(write.deliveries.map((record) => ({ record })));
    return verdict;
  }
  throw new StoreError("overloaded", "too many change the same run at once");
}

/** False: another change came first. */
async function swap(rooms: RunRooms, stored: StoredRun, write: RunWrite): Promise<boolean> {
  const { again, clock, random, runs } = rooms;
  const { run } = write;
  const token = newWrite(random);
  const writes = [...stored.writes, token].slice(-writesKept);
  const deliver = [...waiting(stored.deliver ?? [], run), ...partsOf(write.deliveries)];
  const now = clock.now();
  // An alarm that stands is left alone: a run that is busy moves it once in a while, and not at every step.
  const deliverAt =
    deliver.length === 0 ? undefined : (stored.deliverAt ?? now + limits.ringAheadMs);
  const { _id, version } = stored;
  const update = movingPart(run, writes, deliver, deliverAt);
  const { matchedCount } = await again(() => runs.updateOne({ _id, version }, update));
  return matchedCount > 0 || (await isOurs(rooms, _id, token));
}

/** What has caused something was delivered; and of a run that has ended nothing is, but what tells of its failure. */
export const waiting = (deliver: readonly PartName[], run: Run): readonly PartName[] =>
  deliver.filter((name) => {
    const key = deliveryOf(name);
    if (!key) return true;
    return isActive(run) && !isAnswered(run, key);
  });

const nothingFirst = (): Promise<undefined> => Promise.resolve(undefined);

/** A run that has failed is given no part later: what is not there was swept. */
async function copyParts(
  { again, parts: collection }: RunRooms,
  { names, of }: Inherited,
  { run, deliveries }: RunWrite,
): Promise<"gone" | undefined> {
  const messages = messagesOf(deliveries);
  const all = [...entriesBetween(of.history, 0, of.history.length - 1).map(partOf), ...names];
  for (let at = 0; at < all.length; at += copiedAtOnce) {
    const some = all.slice(at, at + copiedAtOnce);
    const ids = some.map((name) => partKey(of.root, name));
    const found = await again(() => collection.find({ _id: { $in: ids } }).toArray());
    if (found.length < some.length) return "gone";
    const copies = found.map(({ _id: key, message: _message, run: _run, ...part }): StoredPart => {
      const name = nameOfPart(key);
      const message = messages.get(name);
      return {
        ...{ ...part, _id: partKey(run.root, name), run: run.root },
        ...(message && { message }),
      };
    });
    const known = await insertMissing(again, collection, copies);
    await replaceParts(
      { again, parts: collection },
      copies.filter((_, i) => known.has(i)),
    );
  }
  return undefined;
}

const copiedAtOnce = 100;

/** By part, without their bodies. */
const messagesOf = (
  deliveries: RunWrite["deliveries"],
): ReadonlyMap<PartName | undefined, Omit<Message, "body">> =>
  new Map(
    deliveries.map(({ message: { body: _, ...message } }) => [message.run?.part, message] as const),
  );

/** Answers those whose names were taken: by a change that came too late, or will, or by an earlier try of this one. */
async function putParts(
  { again, parts: collection }: RunRooms,
  { run, parts, deliveries }: RunWrite,
): Promise<readonly StoredPart[]> {
  const messages = messagesOf(deliveries);
  const stored = parts.map(({ name, ...part }): StoredPart => {
    const message = messages.get(name);
    return { ...part, _id: partKey(run.root, name), run: run.root, ...(message && { message }) };
  });
  const known = await insertMissing(again, collection, stored);
  return stored.filter((_, i) => known.has(i));
}

/** The change that has written the head says what its parts hold, whichever change was the first to write them. */
async function replaceParts(
  { again, parts: collection }: Pick<RunRooms, "again" | "parts">,
  parts: readonly StoredPart[],
): Promise<void> {
  for (const { _id, ...part } of parts) await again(() => collection.replaceOne({ _id }, part));
}

async function brief(
  rooms: RunRooms,
  deliveries: readonly BriefFor[],
): Promise<readonly Briefing[]> {
  const keys = [...new Set(deliveries.map(({ run: { key } }) => key))];
  const found = await rooms.again(() => rooms.runs.find({ _id: { $in: keys } }).toArray());
  const heads = new Map<RunKey, Run>(found.map((stored) => [stored._id, runFrom(stored)]));
  return Promise.all(
    deliveries.map(async ({ run: inRun, epoch, from }): Promise<Briefing> => {
      const run = heads.get(inRun.key);
      const wanted = wantedOf(run, inRun, epoch);
      if (typeof wanted === "string") return wanted;
      if (!run) return "over";
      return { ...wanted, entries: await entriesOf(rooms, run, from, wanted.rank) };
    }),
  );
}

async function entriesOf(
  { again, parts }: RunRooms,
  { history, root }: Run,
  from: number,
  to: number,
): Promise<readonly HistoryEntry[]> {
  const names = entriesBetween(history, from, to).map(partOf);
  if (names.length === 0) return [];
  const found = await again(() =>
    parts
      .find({ _id: { $in: names.map((name) => partKey(root, name)) } }, { projection: { body: 1 } })
      .toArray(),
  );
  const bodies = new Map(found.map((part) => [part._id, bodyOf(part)]));
  return names.map((name) => {
    const body = bodies.get(partKey(root, name));
    if (!body) throw new Error(`the part ${name} of ${root} is not there`);
    return { messageId: runMessageId(root, name), body };
  });
}
