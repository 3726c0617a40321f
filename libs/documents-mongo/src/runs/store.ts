/**
 * The collections of the run store, and their documents: one for each head in `runs`, keyed by the run's key, and one for each part in
 * `run_parts`, keyed by root and name, with the message that delivers it.
 */
import {
  type MessageId,
  type RunRef,
  awaitedEvents,
  type Configuration,
  type DlqId,
  messageId,
  type PartName,
  type Run,
  type RunAttempt,
  type RunIn,
  type RunKey,
  type RunPart,
  wakeAtOf,
} from "@posthaste/domain";
import { type Records, type RunAddress, requireKnownFormat } from "@posthaste/ports";
import { type Collection } from "mongodb";
import { bytes } from "../bytes.ts";
import { byTime, type Index } from "../indexes.ts";
import { type Store } from "../messages/store.ts";
import { placeOf } from "../query/placed.ts";

export type StoreWithRuns = Store & {
  readonly runs: Collection<StoredRun>;
  readonly marks: Collection<StoredMark>;
  readonly parts: Collection<StoredPart>;
  readonly attempts: Collection<StoredAttempt>;
  readonly insert: Records["insert"];
};

export const withRuns = (store: Store, insert: Records["insert"]): StoreWithRuns => ({
  ...store,
  runs: store.collection<StoredRun>(runsName),
  marks: store.collection<StoredMark>(runsName),
  parts: store.collection<StoredPart>(partsName),
  attempts: store.collection<StoredAttempt>(attemptsName),
  insert,
});

export type Address = RunAddress | RunRef;

export async function find(
  { again, runs }: StoreWithRuns,
  address: Address,
): Promise<StoredRun | undefined> {
  const isRun = { sweptAt: { $exists: false } };
  if ("key" in address) {
    const { key: _id, root } = address;
    return (await again(() => runs.findOne({ _id, root }))) ?? undefined;
  }
  const { tenant, id, createdAt } = address;
  const filter = { tenant, id, ...(createdAt !== undefined && { createdAt }), ...isRun };
  return (await again(() => runs.findOne(filter, { sort: { generation: -1 } }))) ?? undefined;
}

/** Resolves to the newest use of the id, even if its run was swept. */
export async function newestUse(
  { again, runs }: StoreWithRuns,
  { id, tenant }: RunAddress,
): Promise<{ readonly use: StoredRun | StoredMark; readonly run?: StoredRun } | undefined> {
  const found = await again(() => runs.findOne({ tenant, id }, { sort: { generation: -1 } }));
  if (!found) return undefined;
  return "sweptAt" in found ? { use: found } : { use: found, run: found };
}

export const findRoot = async (
  { again, runs }: StoreWithRuns,
  root: MessageId,
): Promise<StoredRun | undefined> => (await again(() => runs.findOne({ root }))) ?? undefined;

export const runsName = "runs";
const partsName = "run_parts";
const attemptsName = "run_attempts";
export const walksName = "run_walks";

export const runIndexes: readonly Index[] = [
  { collection: runsName, key: { tenant: 1, id: 1, generation: -1 }, is: "needed" },
  { collection: runsName, key: { root: 1 }, is: "needed" },
  byTime(runsName, "wakeAt"),
  byTime(runsName, "deliverAt"),
  { collection: runsName, key: { tenant: 1, events: 1, _id: 1 }, having: "events", is: "needed" },
  { collection: runsName, key: { tenant: 1, endedAt: 1 }, having: "endedAt", is: "needed" },
  { collection: runsName, key: { tenant: 1, sweptAt: 1 }, having: "sweptAt", is: "needed" },
  { collection: runsName, key: { tenant: 1, place: 1 }, is: "needed" },
  { collection: runsName, key: { tenant: 1, url: 1, place: 1 }, is: "wanted" },
  { collection: runsName, key: { tenant: 1, "state.kind": 1, place: 1 }, is: "needed" },
  {
    collection: runsName,
    key: { tenant: 1, "plan.policy.labels": 1, place: 1 },
    having: "plan.policy.labels.0",
    is: "wanted",
  },
  {
    collection: runsName,
    key: { tenant: 1, "plan.policy.flow.key": 1, place: 1 },
    having: "plan.policy.flow.key",
    is: "wanted",
  },
  {
    collection: runsName,
    key: { tenant: 1, aliases: 1, place: 1 },
    having: "aliases.0",
    is: "wanted",
  },
  { collection: runsName, key: { tenant: 1, dlqPlace: 1 }, having: "dlqPlace", is: "needed" },
  { collection: partsName, key: { run: 1 }, is: "needed" },
  { collection: attemptsName, key: { run: 1, at: -1 }, is: "needed" },
];

/**
 * `writes` names the writes that made this version and the ones before: a try whose reply was lost recognizes its own
 * write by its name, even after further changes. `deliver`: parts whose messages may not have been inserted yet; the
 * alarm `deliverAt` inserts them. `wakeAt`: the earliest deadline of the run's waits, for `events`.
 */
export type StoredRun = Omit<Run, "key"> & {
  readonly _id: RunKey;
  readonly writes: readonly string[];
  readonly deliver?: readonly PartName[];
  readonly deliverAt?: number;
  readonly events?: readonly string[];
  readonly wakeAt?: number;
  readonly endedAt?: number;
  readonly hosts: readonly string[];
  readonly path?: string;
  /** The place in the list of runs. `dlqPlace` is the place among dead letters, while the run is one. */
  readonly place: string;
  readonly dlqPlace?: string;
};

/** Marks a use of the id for a minute after its run was swept. `of`: the run's root. */
export type StoredMark = Pick<Run, "tenant" | "id" | "generation" | "createdAt"> & {
  readonly _id: RunKey;
  readonly of: MessageId;
  readonly sweptAt: number;
};

export type StoredPart = Omit<RunPart, "name"> & {
  readonly _id: string;
  readonly run: MessageId;
  readonly message?: Configuration;
};

export type StoredAttempt = RunAttempt & {
  readonly _id: string;
  readonly run: MessageId;
  readonly at: number;
};

export const attemptKey = (root: MessageId, part: PartName, attempt: number): string =>
  `${partKey(root, part)}/${attempt}`;

export const partKey = (root: MessageId, name: PartName): string => `${root}/${name}`;
/** Returns a name that sorts after all parts of the root. */
export const endOfParts = (root: MessageId): PartName => `${root}0`;
export const rootOf = (key: string): MessageId => messageId(key.slice(0, key.indexOf("/")));
export const nameOfPart = (key: string): PartName => key.slice(key.indexOf("/") + 1);

export function alarmOf(run: Run): Pick<StoredRun, "events" | "wakeAt"> {
  const events = awaitedEvents(run);
  const wakeAt = wakeAtOf(run);
  return { ...(events.length > 0 && { events }), ...(wakeAt !== undefined && { wakeAt }) };
}

export function runFrom({
  _id,
  writes,
  deliver,
  deliverAt,
  events,
  wakeAt,
  endedAt,
  hosts,
  path,
  place,
  dlqPlace,
  ...run
}: StoredRun): Run {
  return requireKnownFormat({ ...run, key: _id });
}

export function movingPart(
  run: Run,
  writes: readonly string[],
  deliver: readonly PartName[],
  deliverAt: number | undefined,
) {
  const { adoption, marks, state, heirs, history, bytes: size, reached, version } = run;
  const alarm = alarmOf(run);
  const dlqPlace = isInDlq(run)
    ? dlqPlaceOf(run.state.failure.dlqId, run.state.endedAt)
    : undefined;
  return {
    $set: {
      ...{ state, history, bytes: size, reached, version, writes },
      ...(adoption && { adoption }),
      ...(marks && { marks }),
      ...(heirs && { heirs }),
      ...(state.kind !== "active" && { endedAt: state.endedAt }),
      ...(deliver.length > 0 && { deliver }),
      ...(deliverAt !== undefined && { deliverAt }),
      ...alarm,
      ...(dlqPlace !== undefined && { dlqPlace }),
    },
    $unset: {
      ...(deliver.length === 0 && { deliver: "" as const }),
      ...(deliverAt === undefined && { deliverAt: "" as const }),
      ...(alarm.wakeAt === undefined && { wakeAt: "" as const }),
      ...(!alarm.events && { events: "" as const }),
      ...(dlqPlace === undefined && { dlqPlace: "" as const }),
    },
  };
}

export function partFrom(part: StoredPart): RunPart {
  const { _id, at, rank, sent } = part;
  return {
    ...{ name: nameOfPart(_id), at, body: bodyOf(part) },
    ...(rank !== undefined && { rank }),
    ...(sent && { sent }),
  };
}

export const bodyOf = ({ body }: Pick<StoredPart, "body">): Uint8Array => bytes(body);

export const isInDlq = (run: Run): run is RunIn<"failed"> =>
  run.state.kind === "failed" && run.state.failure.inDlq;

export const placeOfRun = ({ createdAt, root }: Pick<Run, "createdAt" | "root">): string =>
  placeOf(createdAt, root);

export const dlqPlaceOf = (id: DlqId, failedAt: number): string => placeOf(failedAt, id);
