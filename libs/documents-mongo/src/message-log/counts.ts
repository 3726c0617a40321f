/**
 * Counts the events of each state in each minute. Each process counts the events that it wrote, in a document of its
 * own for each tenant and hour, and writes its totals again and again: a write that is repeated, or late, counts
 * nothing twice.
 *
 * (1) events that a process counted in its last `writeEveryMs` are missing when it dies, and so is a batch of rows
 *     whose reply was lost.
 * (2) hours that have passed are dropped from memory; a later event of such an hour begins another document.
 */
import { type LogState, minuteMs, type TenantId, isOver } from "@posthaste/domain";
import { type MinuteCounts } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { type Connection, type EventCounts } from "../connection.ts";
import { type Index } from "../indexes.ts";

const collection = "event_counts";

export const eventCountIndexes: readonly Index[] = [
  { collection, key: { tenant: 1, hour: 1 }, is: "needed" },
];

const hourMs = 3_600_000;
/** How long after its beginning an hour is kept in memory. */
const keptMs = 2 * hourMs;
const writeEveryMs = 5_000;
const operationsPerCall = 500;
const idLength = 12;

type Counts = Partial<Record<LogState, number>>;
type StoredHour = {
  readonly _id: string;
  readonly tenant: TenantId;
  readonly hour: number;
  readonly minutes: Readonly<Record<string, Counts>>;
};
type Hour = Omit<StoredHour, "minutes"> & {
  readonly minutes: Map<number, Counts>;
  /** Minutes whose counts are higher than the written ones. */
  readonly changed: Set<number>;
};

type Parts = Pick<Connection, "again" | "clock" | "collection" | "heavy" | "log" | "random">;

export function createEventCounts({
  again,
  clock,
  collection: open,
  heavy,
  log,
  random,
}: Parts): EventCounts {
  const stored = open<StoredHour>(collection);
  const hours = new Map<string, Hour>();
  let callOff: (() => void) | undefined;
  let writing = Promise.resolve();

  function hourOf(tenant: TenantId, at: number): Hour {
    const hour = at - (at % hourMs);
    const key = `${hour} ${tenant}`;
    const known = hours.get(key);
    if (known) return known;
    const _id = `${tenant} ${hour} ${random.text(idLength)}`;
    const made: Hour = { _id, tenant, hour, minutes: new Map(), changed: new Set() };
    hours.set(key, made);
    return made;
  }

  /** Writes one after another, since a later write has higher counts. */
  function write(wanted: (hour: Hour) => boolean = () => true): Promise<void> {
    writing = writing.then(async () => {
      const changed = [...hours.values()].filter((hour) => hour.changed.size > 0 && wanted(hour));
      for (let from = 0; from < changed.length; from += operationsPerCall)
        await writeSome(changed.slice(from, from + operationsPerCall));
    });
    return writing;
  }

  async function writeSome(some: readonly Hour[]): Promise<void> {
    const minutes = some.map((hour) => [...hour.changed]);
    const operations = some.map((hour) => operationOf(hour));
    for (const { changed } of some) changed.clear();
    try {
      await again(() => stored.bulkWrite(operations, { ordered: false }));
    } catch (error) {
      for (const [n, { changed }] of some.entries())
        for (const minute of minutes[n] ?? []) changed.add(minute);
      log.warn("log.uncounted", { error });
    }
  }

  async function writeInTurn(): Promise<void> {
    await write();
    const now = clock.now();
    for (const [key, { hour, changed }] of hours)
      if (isOver(hour + keptMs, keptMs, now) && changed.size === 0) hours.delete(key);
    callOff = undefined;
    if ([...hours.values()].some(({ changed }) => changed.size > 0)) arm();
  }

  function arm(): void {
    callOff ??= clock.after(writeEveryMs, () => void writeInTurn());
  }

  return {
    add: (tenant, { at, state }) => {
      const hour = hourOf(tenant, at);
      const minute = Math.floor((at - hour.hour) / minuteMs);
      const counts = hour.minutes.get(minute) ?? {};
      counts[state] = (counts[state] ?? 0) + 1;
      hour.minutes.set(minute, counts);
      hour.changed.add(minute);
      arm();
    },
    read: async (tenant, from, to) => {
      await write((hour) => hour.tenant === tenant);
      const range = { $gte: from - (from % hourMs), $lte: to };
      const found = await heavy.again(tenant)(() =>
        heavy
          .collection<StoredHour>(collection)
          .find({ tenant, hour: range })
          .maxTimeMS(heavy.msMax)
          .toArray(),
      );
      const isAsked = ({ minute }: MinuteCounts): boolean =>
        minute > from - minuteMs && minute <= to;
      return together(found.flatMap(minutesOf)).filter(isAsked);
    },
    sweep: async (tenant, before) => {
      await again(() => stored.deleteMany({ tenant, hour: { $lte: before - hourMs } }));
    },
    close: async () => {
      callOff?.();
      await write();
    },
  };
}

/** `$max` keeps the greatest count, so a late or repeated write changes nothing. */
function operationOf({
  _id,
  tenant,
  hour,
  minutes,
  changed,
}: Hour): AnyBulkWriteOperation<StoredHour> {
  const counts = [...changed].flatMap((minute) =>
    Object.entries(minutes.get(minute) ?? {}).map(
      ([state, n]) => [`minutes.${minute}.${state}`, n] as const,
    ),
  );
  const update = { $setOnInsert: { tenant, hour }, $max: Object.fromEntries(counts) };
  return { updateOne: { filter: { _id }, update, upsert: true } };
}

const minutesOf = ({ hour, minutes }: StoredHour): readonly MinuteCounts[] =>
  Object.entries(minutes).map(([minute, counts]) => ({
    minute: hour + Number(minute) * minuteMs,
    counts,
  }));

function together(all: readonly MinuteCounts[]): readonly MinuteCounts[] {
  const byMinute = new Map<number, Counts>();
  for (const { minute, counts } of all) {
    const sums = byMinute.get(minute) ?? {};
    for (const [state, n] of Object.entries(counts) as [LogState, number][])
      sums[state] = (sums[state] ?? 0) + n;
    byMinute.set(minute, sums);
  }
  return [...byMinute]
    .map(([minute, counts]) => ({ minute, counts }))
    .toSorted((a, b) => a.minute - b.minute);
}
