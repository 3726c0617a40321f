/**
 * Changes heads. Concurrent changes of one run in a process are decided one after another and written once, so a
 * change can lose only to another process.
 */
import {
  deliveryOf,
  isActive,
  hasTakenEffect,
  limits,
  namesPart,
  type PartName,
  type Run,
  type RunKey,
} from "@posthaste/domain";
import { type Decision, type RunWrite, StoreError } from "@posthaste/ports";
import { newWrite } from "../writes/change-by-token.ts";
import { createGather, type Gather } from "../writes/gather.ts";
import { putParts, removeParts, replaceParts } from "./parts.ts";
import {
  type Address,
  find,
  type StoreWithRuns,
  movingPart,
  runFrom,
  type StoredRun,
} from "./store.ts";

const triesMax = 50;
const changesMax = 100;
/** How many writes may come between a write and the check for it. */
const writesKept = 4;

type Change = {
  readonly address: Address;
  /** Keeps its verdict itself. May be called again. */
  readonly decide: (run: Run) => RunWrite | undefined;
};

type Changes = {
  readonly gather: Gather<Change, "decided" | "unknown">;
  calls: number;
};

export function createChange(store: StoreWithRuns) {
  const byRun = new Map<string, Changes>();
  const carryOut = (changes: readonly Change[]) => decideAll(store, changes);

  return async <V>(address: Address, decide: (run: Run) => Decision<V>): Promise<V | undefined> => {
    let verdict: V | undefined;
    const decided = (run: Run): RunWrite | undefined => {
      const decision = decide(run);
      ({ verdict } = decision);
      return decision.write;
    };
    const name = nameOf(address);
    const changes = byRun.get(name) ?? {
      gather: createGather(carryOut, { itemsMax: changesMax }),
      calls: 0,
    };
    byRun.set(name, changes);
    changes.calls += 1;
    try {
      const [outcome] = await changes.gather([{ address, decide: decided }]);
      return outcome === "decided" ? verdict : undefined;
    } finally {
      changes.calls -= 1;
      if (changes.calls === 0) byRun.delete(name);
    }
  };
}

/** Returns one name for all uses of an id. */
const nameOf = (address: Address): string =>
  "key" in address
    ? address.key.slice(0, address.key.lastIndexOf("/"))
    : `${address.tenant}/${address.id}`;

/**
 * Decides the changes. Each run is read after its changes were requested, so a decision without a write was right for
 * the run as it was then.
 */
async function decideAll(
  store: StoreWithRuns,
  changes: readonly Change[],
): Promise<readonly ("decided" | "unknown")[]> {
  const outcomes = new Map<Change, "decided" | "unknown">();
  for (const alike of Map.groupBy(changes, ({ address }) => JSON.stringify(address)).values()) {
    const [first] = alike;
    if (!first) continue;
    const outcome = await decideAlike(store, first.address, alike);
    for (const change of alike) outcomes.set(change, outcome);
  }
  return changes.map((change) => outcomes.get(change) ?? "unknown");
}

async function decideAlike(
  store: StoreWithRuns,
  address: Address,
  changes: readonly Change[],
): Promise<"decided" | "unknown"> {
  let lost: RunWrite | undefined;
  for (let tries = 0; tries < triesMax; tries++) {
    const stored = await find(store, address);
    if (!stored) {
      // The run was swept after the last try, which left its parts behind.
      if (lost) await removeParts(store, lost);
      return "unknown";
    }
    const write = together(runFrom(stored), changes);
    if (!write) return "decided";
    lost = write;
    const strange = await putParts(store, write);
    if (!(await swap(store, stored, write))) continue;
    await replaceParts(store, strange);
    if (write.deliveries.length > 0)
      await store.insert(
        write.deliveries.map((record) => ({ record })),
        "accepted",
      );
    return "decided";
  }
  throw new StoreError("overloaded", "too many calls change the same run at once");
}

/** Decides each change on the run as the change before has left it. */
function together(run: Run, changes: readonly Change[]): RunWrite | undefined {
  const writes: RunWrite[] = [];
  for (const { decide } of changes) {
    const before = writes.at(-1)?.run ?? run;
    const write = decide(before);
    // A part that exists and that no head names belongs to a write that came too late: only such a part is replaced.
    const taken = write?.parts.find(({ name }) => namesPart(before, name));
    if (taken) throw new Error(`${run.key} has a part ${taken.name}`);
    if (write) writes.push(write);
  }
  const last = writes.at(-1);
  return (
    last && {
      run: last.run,
      parts: writes.flatMap(({ parts }) => parts),
      deliveries: writes.flatMap(({ deliveries }) => deliveries),
    }
  );
}

async function swap(store: StoreWithRuns, stored: StoredRun, write: RunWrite): Promise<boolean> {
  const { again, clock, random, runs } = store;
  const { run } = write;
  const token = newWrite(random);
  const writes = [...stored.writes, token].slice(-writesKept);
  const deliver = [...waiting(stored.deliver ?? [], run), ...partsOf(write.deliveries)];
  const now = clock.now();
  // An alarm that is set is kept: a busy run moves it once in a while, and not at every step.
  const deliverAt =
    deliver.length === 0 ? undefined : (stored.deliverAt ?? now + limits.ringAheadMs);
  const { _id, version } = stored;
  const update = movingPart(run, writes, deliver, deliverAt);
  const { matchedCount } = await again(() => runs.updateOne({ _id, version }, update));
  return matchedCount > 0 || (await isOurs(store, _id, token));
}

const isOurs = async ({ again, runs }: StoreWithRuns, _id: RunKey, write: string) =>
  (await again(() => runs.findOne({ _id, writes: write }, { projection: { _id: 1 } }))) !== null;

export const partsOf = (deliveries: RunWrite["deliveries"]): PartName[] =>
  deliveries.flatMap(({ message: { run } }) => run?.part ?? []);

/** Leaves out deliveries that have had their effect. When a run has ended, only the one that reports its failure remains. */
export const waiting = (deliver: readonly PartName[], run: Run): readonly PartName[] =>
  deliver.filter((name) => {
    const key = deliveryOf(name);
    if (!key) return true;
    return isActive(run) && !hasTakenEffect(run, key);
  });
