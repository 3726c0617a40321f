/**
 * Reads the next events of a log that is being written. The list is in the order of the events' times, and an event
 * may be written after events of later times: by another process, or by a repeated write. So each read also looks
 * back.
 *
 * (1) An event that the log has within `lateMsMax` of its time is returned at least once. When there are more than
 *     `windowMax` events within that time, only the latest of them are checked.
 * (2) An event is returned again only when another one came late close to it (seen.ts), or when more came late than
 *     fit a page.
 */
import {
  configurationBytes,
  limits,
  type LogFilter,
  type Sha256Hex,
  type TenantId,
  tooFarAheadAfter,
  cutOff,
  isTooFarAhead,
  skewMsMax,
} from "@posthaste/domain";
import { type LogEntry } from "@posthaste/ports";
import { type Reads } from "../reads.ts";
import { type LastEvent, type LivePosition } from "./position.ts";
import { markMax, seenOf, unseen } from "./seen.ts";

export const lateMsMax = 10_000;
const windowMax = 1_000;
/** The number of pages that a look back reads, each of which ends by its bytes. */
const pagesBackMax = 64;

export type LivePage = {
  readonly items: readonly LogEntry[];
  readonly placeAfter: (count: number) => LivePosition;
  /** Whether more events are there already. */
  readonly isFull: boolean;
};

export type LiveAsked = {
  readonly tenant: TenantId;
  readonly filter: LogFilter;
  readonly place: LivePosition;
  readonly limit: number;
  readonly bodyBytesMax: number;
  readonly now: number;
};

type Placed = LastEvent & { readonly entry: LogEntry };
/** The place of a checked event, with its size. */
type Mark = LastEvent & { readonly bytes: number };

export async function livePage(
  log: Reads["log"],
  sha256: Sha256Hex,
  { tenant, filter, place: asked, limit, bodyBytesMax, now }: LiveAsked,
): Promise<LivePage> {
  const place = placeNow(asked, now);
  const last = place.last && place.last.at >= place.since ? place.last : undefined;
  const window = {
    ...filter,
    from: Math.max(filter.from ?? 0, place.since),
    to: Math.min(filter.to ?? Infinity, tooFarAheadAfter(0, now)),
  };

  /** Reads backwards, newest first. `each` gets the entries, of which no page stays in memory. */
  const lookBack = async (
    bytesMax: number,
    each: (entry: LogEntry, position: string) => unknown,
  ): Promise<void> => {
    let after = last?.position;
    let left = windowMax;
    for (let pages = 0; after !== undefined && left > 0 && pages < pagesBackMax; pages++) {
      const page = { after, limit: left, bodyBytesMax: bytesMax, order: "latestFirst" } as const;
      const { items, positions, next }: Awaited<ReturnType<Reads["log"]>> = await log(
        tenant,
        window,
        page,
      );
      for (const [n, entry] of items.entries()) each(entry, positions[n] ?? "");
      left -= items.length;
      after = next;
    }
  };
  const newest: Mark[] = [];
  await lookBack(0, (entry, position) =>
    newest.push({ ...lastEvent(entry, position, sha256), bytes: bytesOf(entry) }),
  );
  const before = newest.toReversed();
  const late = unseen(before, place.seen);
  const fitting = fittingOf(late);
  const wanted = new Map(fitting.map((mark) => [mark.position, mark]));
  const entries = new Map<string, LogEntry>();
  if (fitting.length > 0)
    await lookBack(bodyBytesMax, (entry, position) => {
      if (wanted.has(position)) entries.set(position, entry);
    });
  const found = fitting.flatMap((mark): Placed[] => {
    const entry = entries.get(mark.position);
    return entry ? [{ ...mark, entry }] : [];
  });

  const page = { limit, bodyBytesMax, ...(last && { after: last.position }) };
  const listed = await log(tenant, window, { ...page, order: "earliestFirst" });
  const ahead = listed.items.map((entry, n) => ({
    ...lastEvent(entry, listed.positions[n] ?? "", sha256),
    entry,
  }));

  const isWhole = fitting.length === late.length;
  const all = isWhole ? [...found, ...ahead] : found;
  const shown = all.slice(0, limit);
  const isLast = isWhole && all.length <= limit && listed.next === undefined;
  return {
    items: shown.map(({ entry }) => entry),
    placeAfter: (count) => {
      const told = shown.slice(0, count);
      // More events came late than are returned: the place is after the last returned one, and the next read repeats those that follow it.
      const isBack = !isWhole || count < found.length;
      const end = told.at(-1)?.position;
      const known = isBack
        ? before.slice(0, before.findIndex(({ position }) => position === end) + 1)
        : [...before, ...(last ? [last] : []), ...told.slice(found.length)];
      const isEnd = isLast && count >= shown.length;
      return placeBehind(known, isEnd ? now : (known.at(-1)?.at ?? 0), place.since);
    },
    isFull: !isLast,
  };
}

/**
 * Returns the place to use. A cursor from a clock that was set back since begins a minute ago, so that the caller gets the events
 * by the right time.
 */
const placeNow = (place: LivePosition, now: number): LivePosition =>
  isTooFarAhead(place.since, 0, now) ? { since: cutOff(skewMsMax, now), seen: [] } : place;

/** Returns the first events, as many as a page may hold. */
function fittingOf(late: readonly Mark[]): readonly Mark[] {
  let bytes = 0;
  const last = late.findIndex((mark) => (bytes += mark.bytes) >= limits.pageBytesMax);
  return last < 0 ? late : late.slice(0, last + 1);
}

const bytesOf = ({ message, fact }: LogEntry): number =>
  configurationBytes(message) + (fact?.response?.body.length ?? 0);

const lastEvent = ({ event }: LogEntry, position: string, sha256: Sha256Hex): LastEvent => ({
  at: event.at,
  mark: parseInt(sha256(position).slice(0, markDigits), 16),
  position,
});

const markDigits = Math.log2(markMax) / 4;

/**
 * Returns the place after the returned events. `known`: the returned events of the window, in order. `upTo`: every
 * event of an earlier time that the log had is in `known`.
 */
function placeBehind(known: readonly LastEvent[], upTo: number, before: number): LivePosition {
  const since = Math.max(before, upTo - lateMsMax);
  const last = known.at(-1);
  const within = known.slice(-windowMax - 1, -1).filter(({ at }) => at >= since);
  const seen = seenOf(within);
  if (!last) return { since, seen };
  return { since, last: { at: last.at, mark: last.mark, position: last.position }, seen };
}
