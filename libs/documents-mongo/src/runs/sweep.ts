/**
 * Removes runs that ended long ago, and parts that belong to no run.
 *
 * (1) A swept run leaves a mark of its use for a minute: a start looks for the newest use and writes the next one,
 *     and may take up to a minute between the two (start.ts). Without the mark such a start and one that came after
 *     the sweep would both be the first use, or the second beside the first: two active runs of one id (R2). A change
 *     that had read the run before the sweep may write a part or an attempt after it: these are removed with the
 *     mark.
 * (2) Parts are written before the head that names them. If a process ended between the two, or its start lost, they
 *     are removed an hour later, by walking once an hour through the roots of the hour before it (ADR 33).
 */
import { type MessageId, randomMessageId, type TenantId, cutOff } from "@posthaste/domain";
import { createIds } from "../ids.ts";
import { isKnownFormat } from "../messages/stored.ts";
import { type StoreWithRuns, rootOf, type StoredMark, walksName } from "./store.ts";

const markKeptMs = 60_000;
const strayAfterMs = 3_600_000;
/** How far back a walk begins if no earlier walk is recorded. */
const walkedMsMax = 86_400_000;
const rootsPerPage = 1_000;
const marksPerPage = 500;

export function createSweep(store: StoreWithRuns) {
  let walkedAtMs = -Infinity;
  return async (tenant: TenantId, endedBefore: number, limit: number): Promise<number> => {
    const now = store.clock.now();
    const passedMs = store.clock.passedMs();
    if (passedMs - walkedAtMs >= strayAfterMs) {
      walkedAtMs = passedMs;
      await removeStrays(store, now);
    }
    await removeMarks(store, tenant, cutOff(markKeptMs, now));
    return sweepEnded(store, tenant, endedBefore, limit);
  };
}

/** Removes marks in portions. Each portion is removed before the next is read. */
async function removeMarks(
  { again, attempts, marks, parts }: StoreWithRuns,
  tenant: TenantId,
  before: number,
): Promise<void> {
  for (;;) {
    const swept = { tenant, sweptAt: { $lt: before, $exists: true } };
    const found = await again(() =>
      marks
        .find(swept, { projection: { of: 1 } })
        .limit(marksPerPage)
        .toArray(),
    );
    if (found.length === 0) return;
    const late = { run: { $in: found.map(({ of }) => of) } };
    await again(() => parts.deleteMany(late));
    await again(() => attempts.deleteMany(late));
    const keys = found.map(({ _id }) => _id);
    await again(() => marks.deleteMany({ _id: { $in: keys }, ...swept }));
  }
}

async function sweepEnded(
  { again, attempts, clock, parts, runs, marks }: StoreWithRuns,
  tenant: TenantId,
  endedBefore: number,
  limit: number,
): Promise<number> {
  const ended = { tenant, endedAt: { $lt: endedBefore, $exists: true }, ...isKnownFormat };
  const fields = { root: 1, id: 1, generation: 1, createdAt: 1 };
  const found = await again(() => runs.find(ended, { projection: fields }).limit(limit).toArray());
  if (found.length === 0) return 0;
  // If another sweep was faster, a key may name another run. A root never does.
  const roots = found.map(({ root }) => root);
  await again(() => parts.deleteMany({ run: { $in: roots } }));
  await again(() => attempts.deleteMany({ run: { $in: roots } }));
  const sweptAt = clock.now();
  const writes = found.map(({ _id, root, id, generation, createdAt }) => {
    const replacement: StoredMark = {
      ...{ _id, tenant, id, generation, createdAt, sweptAt },
      of: root,
    };
    return { replaceOne: { filter: { _id, root }, replacement } };
  });
  await again(() => marks.bulkWrite(writes, { ordered: false }));
  return found.length;
}

type Walk = { readonly _id: "parts"; readonly upTo: string };

async function removeStrays(store: StoreWithRuns, now: number): Promise<void> {
  const { again, parts } = store;
  const walks = store.collection<Walk>(walksName);
  const ids = createIds(store);
  const rootAt = (time: number): string => randomMessageId(ids.positionAt(Math.max(time, 0)), "");
  const before = cutOff(strayAfterMs, now);
  const upTo = rootAt(before);
  const walked = await again(() => walks.findOne({ _id: "parts" }));
  // A walk by a clock that was ahead has reached roots that are still to be made.
  let after = walked && walked.upTo <= upTo ? walked.upTo : rootAt(cutOff(walkedMsMax, now));
  // Each page begins after the last root of the one before.
  for (;;) {
    const isStart = { $gt: after, $lt: upTo, $regex: "/start$" };
    const page = await again(() =>
      parts
        .find({ _id: isStart }, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(rootsPerPage)
        .toArray(),
    );
    await removeHeadless(
      store,
      page.map(({ _id }) => rootOf(_id)),
      before,
    );
    const last = page.at(-1);
    if (!last || page.length < rootsPerPage) break;
    after = last._id;
  }
  await again(() => walks.replaceOne({ _id: "parts" }, { upTo }, { upsert: true }));
}

/** `before` keeps the parts of a child: it may be starting now, under a root that its invocation made long ago. */
async function removeHeadless(
  { again, parts, runs }: StoreWithRuns,
  roots: readonly MessageId[],
  before: number,
): Promise<void> {
  const heads = await again(() =>
    runs.find({ root: { $in: [...roots] } }, { projection: { root: 1 } }).toArray(),
  );
  const named = new Set(heads.map(({ root }) => root));
  const strays = roots.filter((root) => !named.has(root));
  if (strays.length > 0)
    await again(() => parts.deleteMany({ run: { $in: strays }, at: { $lt: before } }));
}
