/** Parts of runs: written once, before the head that names them. */
import {
  type Configuration,
  entriesBetween,
  type HistoryEntry,
  type PartName,
  partOf,
  type Run,
  runMessageId,
} from "@posthaste/domain";
import { type Inherited, type RunWrite } from "@posthaste/ports";
import { insertMissing } from "../insert-missing.ts";
import { type RunRooms } from "./rooms.ts";
import { bodyOf, nameOfPart, partKey, type StoredPart } from "./stored-run.ts";

/** Answers those whose names were taken: by a change that came too late, or will, or by an earlier try of this one. */
export async function putParts(
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

/**
 * The change that has written the head says what its parts hold, whichever change was the first to write them. One that was
 * left by an earlier try may be swept meanwhile.
 */
export async function replaceParts(
  { again, parts: collection }: Pick<RunRooms, "again" | "parts">,
  parts: readonly StoredPart[],
): Promise<void> {
  for (const { _id, ...part } of parts)
    await again(() => collection.replaceOne({ _id }, part, { upsert: true }));
}

/** A run that has failed is given no part later: what is not there was swept. */
export async function copyParts(
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
      // Every other part says the same in each try.
      copies.filter(({ message }, i) => message && known.has(i)),
    );
  }
  return undefined;
}

const copiedAtOnce = 100;

/** By part, without their bodies. */
const messagesOf = (
  deliveries: RunWrite["deliveries"],
): ReadonlyMap<PartName | undefined, Configuration> =>
  new Map(
    deliveries.map(({ message: { body: _, ...message } }) => [message.run?.part, message] as const),
  );

export async function entriesOf(
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
