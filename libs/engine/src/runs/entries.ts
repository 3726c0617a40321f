/** Builds the writes by which entries join the history of their run: a part and the record of a delivery for each. */
import {
  append,
  bytesOfEntry,
  type EntryDelivery,
  type EntryKey,
  entryMessage,
  keptDelivery,
  limits,
  partOf,
  type Run,
  type RunIn,
  type RunPart,
} from "@posthaste/domain";
import { type Decision, type RunWrite } from "@posthaste/ports";
import { type Deliveries } from "./deliveries.ts";

export type Entry = {
  readonly key: EntryKey;
  readonly body: Uint8Array;
  readonly delivery: EntryDelivery;
};

/** `run`: the run with the entries in it. The first entry has the rank `from`. */
export function writeOfEntries(
  run: Run,
  from: number,
  entries: readonly Entry[],
  deliveries: Deliveries,
  now: number,
): RunWrite {
  const messages = entries.map(({ delivery, key }) => entryMessage(run, key, delivery, now));
  const parts = entries.map(({ body, delivery, key }, i): RunPart => {
    const sent = keptDelivery(run, delivery, now);
    return { name: partOf(key), at: now, body, rank: from + i, ...(sent && { sent }) };
  });
  const added = entries.map(({ body }, i) => ({ rank: from + i, body }));
  return { run, parts, deliveries: deliveries.recordsOf(messages, now, added) };
}

/** A step that waited, with its result, which does not come from the endpoint. */
export type EndedStep = {
  readonly step: number;
  readonly body: Uint8Array;
  readonly delivery: EntryDelivery;
};

/** Writes results. The steps must be distinct and have no result yet. */
export function decisionOfResults<V>(
  run: RunIn<"active">,
  ended: readonly EndedStep[],
  deliveries: Deliveries,
  now: number,
  verdictOf: (run: Run) => V,
): Required<Omit<Decision<V>, "intake">> {
  const results = ended.map(({ step, ...rest }) => ({
    ...rest,
    key: { role: "result", step } as const,
  }));
  const appended = append(
    run,
    results.map(({ key }) => key),
  );
  if (appended.kind === "refused") throw new Error(appended.text);
  const bytes = ended.reduce((sum, { body }) => sum + bytesOfEntry(body), run.bytes);
  const next = { ...appended.run, bytes };
  const write = writeOfEntries(next, run.history.length, results, deliveries, now);
  return { verdict: verdictOf(next), write };
}

export const fitsHistory = (run: Pick<Run, "bytes">, body: Uint8Array): boolean =>
  run.bytes + bytesOfEntry(body) <= limits.runHistoryBytesMax;
