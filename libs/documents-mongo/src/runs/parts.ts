/** The parts of runs: written once, before the head that names them. */
import {
  type Configuration,
  entriesBetween,
  type HistoryEntry,
  isOfLog,
  lettersOfLog,
  limits,
  type MessageId,
  type PartName,
  partOf,
  type Run,
  runMessageId,
  type RunPart,
} from "@posthaste/domain";
import { type Inherited, type RunWrite, type PartsPage } from "@posthaste/ports";
import { insertMissing } from "../writes/insert-missing.ts";
import {
  type StoreWithRuns,
  bodyOf,
  endOfParts,
  nameOfPart,
  partFrom,
  partKey,
  type StoredPart,
} from "./store.ts";

/** Resolves to the parts whose names were taken: by a change that comes too late, or by an earlier try of this one. */
export async function putParts(
  { again, parts: collection }: StoreWithRuns,
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

/**
 * Replaces parts that another change wrote first: the change that has written the head decides what its parts hold. A
 * part left by an earlier try may be swept meanwhile.
 */
export async function replaceParts(
  { again, parts: collection }: Pick<StoreWithRuns, "again" | "parts">,
  parts: readonly StoredPart[],
): Promise<void> {
  for (const { _id, ...part } of parts)
    await again(() => collection.replaceOne({ _id }, part, { upsert: true }));
}

export const removeParts = (
  { again, parts: collection }: StoreWithRuns,
  { parts, run }: RunWrite,
): Promise<unknown> =>
  again(() =>
    collection.deleteMany({ _id: { $in: parts.map(({ name }) => partKey(run.root, name)) } }),
  );

/** A failed run gets no further entry, so a missing entry was swept. */
export async function copyParts(
  { again, parts: collection }: StoreWithRuns,
  { names, of }: Inherited,
  { run, deliveries }: RunWrite,
): Promise<"gone" | undefined> {
  const messages = messagesOf(deliveries);
  const copyOf = ({ _id: key, message: _message, run: _run, ...part }: StoredPart): StoredPart => {
    const name = nameOfPart(key);
    const message = messages.get(name);
    return {
      ...{ ...part, _id: partKey(run.root, name), run: run.root },
      ...(message && { message }),
    };
  };
  const all = [...entriesBetween(of.history, 0, of.history.length - 1).map(partOf), ...names];
  for (let at = 0; at < all.length; at += copiedAtOnce) {
    const some = all.slice(at, at + copiedAtOnce);
    const ids = some.map((name) => partKey(of.root, name));
    const found = await again(() => collection.find({ _id: { $in: ids } }).toArray());
    if (found.length < some.length) return "gone";
    const copies = found.map(copyOf);
    const known = await insertMissing(again, collection, copies);
    await replaceParts(
      { again, parts: collection },
      // Every other part is the same in each try.
      copies.filter(({ message }, i) => message && known.has(i)),
    );
  }
  for (const letter of lettersOfLog) {
    let after = partKey(of.root, letter);
    // Each round begins after the last part of the one before.
    for (;;) {
      const some = await someBetween(after, partKey(of.root, `${letter}a`));
      const told = some.filter(({ _id }) => isOfLog(of, nameOfPart(_id)));
      await insertMissing(again, collection, told.map(copyOf));
      const last = some.at(-1);
      if (!last) break;
      after = last._id;
    }
  }
  return undefined;

  /** Reads a bounded number of parts, since their total size has no bound, unlike a history. */
  async function someBetween(after: string, end: string): Promise<readonly StoredPart[]> {
    return again(async () => {
      const some: StoredPart[] = [];
      let bytes = 0;
      const behind = { _id: { $gt: after, $lt: end } };
      for await (const part of collection.find(behind, inSmallReplies).sort({ _id: 1 })) {
        some.push(part);
        bytes += bodyOf(part).length;
        if (some.length >= copiedAtOnce || bytes >= limits.runReadBytesMax) break;
      }
      return some;
    });
  }
}

const copiedAtOnce = 100;

const messagesOf = (
  deliveries: RunWrite["deliveries"],
): ReadonlyMap<PartName | undefined, Configuration> =>
  new Map(
    deliveries.map(({ message: { body: _, ...message } }) => [message.run?.part, message] as const),
  );

export async function entriesOf(
  { again, parts }: StoreWithRuns,
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
    if (!body) throw new Error(`the part ${name} of ${root} is missing`);
    return { messageId: runMessageId(root, name), body };
  });
}

/** Reads a few entries first, and more if those are small: the size of an entry is known only when it is read. */
export async function someEntriesOf(
  store: StoreWithRuns,
  run: Run,
  from: number,
): Promise<readonly HistoryEntry[]> {
  const some: HistoryEntry[] = [];
  let bytes = 0;
  let count = entriesAtOnceMin;
  // Each round reads at least one entry.
  while (from + some.length < run.history.length) {
    const next = from + some.length;
    const last = Math.min(next + count, run.history.length) - 1;
    for (const entry of await entriesOf(store, run, next, last)) {
      some.push(entry);
      bytes += entry.body.length;
      if (bytes >= limits.runReadBytesMax) return some;
    }
    count = Math.min(count * 4, entriesAtOnceMax);
  }
  return some;
}

const entriesAtOnceMin = 16;
const entriesAtOnceMax = 500;

export async function somePartsOf(
  { again, parts }: StoreWithRuns,
  root: MessageId,
  after: PartName,
): Promise<PartsPage> {
  return again(async () => {
    const found: RunPart[] = [];
    let bytes = 0;
    const behind = { _id: { $gt: partKey(root, after), $lt: endOfParts(root) } };
    for await (const stored of parts.find(behind, inSmallReplies).sort({ _id: 1 })) {
      const part = partFrom(stored);
      found.push(part);
      bytes += part.body.length;
      if (bytes >= limits.runReadBytesMax) return { parts: found, next: part.name };
    }
    return { parts: found };
  });
}

const inSmallReplies = { batchSize: 16 } as const;
