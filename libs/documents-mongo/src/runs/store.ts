/** The collections that the parts of the run store share. */
import { type MessageId, type RunRef } from "@posthaste/domain";
import { type Records, type RunAddress } from "@posthaste/ports";
import { type Collection } from "mongodb";
import { type Store } from "../messages/store.ts";
import {
  attemptsName,
  partsName,
  runsName,
  type StoredAttempt,
  type StoredMark,
  type StoredPart,
  type StoredRun,
} from "./stored-run.ts";

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

export const findRoot = (
  { again, runs }: StoreWithRuns,
  root: MessageId,
): Promise<StoredRun | null> => again(() => runs.findOne({ root }));
