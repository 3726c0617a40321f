/**
 * The next events of a log that is being written. The list is in the order of the events' times, and a row may come later
 * than rows of later times: from other processes, or when a write was repeated. So each reading looks back as well.
 *
 * (1) an event that the log has within `lateMsMax` of its time is returned at least once. When more than `windowMax` events stand
 *     within that time, it is looked for among the latest of these.
 * (2) an event is returned again only when another one came late close to it (seen.ts), or when more came late than fit a page.
 */
import {
  configurationBytes,
  limits,
  type LogFilter,
  type Sha256Hex,
  type TenantId,
  aheadFrom,
  cutOff,
  isAhead,
  skewMsMax,
} from "@posthaste/domain";
import { type LogEntry } from "@posthaste/ports";
import { type Reads } from "../reads.ts";
import { type LastEvent, type LivePlace } from "./place.ts";
import { markMax, seenOf, unseen } from "./seen.ts";

export const lateMsMax = 10_000;
const windowMax = 1_000;
/** A look back reads no more pages, each of which ends by its bytes. */
const pagesBackMax = 64;

export type LivePage = {
  readonly items: readonly LogEntry[];
  /** Behind the first `count` of them. */
  readonly placeAfter: (count: number) => LivePlace;
  /** More is there already. */
  readonly isFull: boolean;
};

export type LiveAsked = {
  readonly tenant: TenantId;
  readonly filter: LogFilter;
  readonly place: LivePlace;
  readonly limit: number;
  readonly bodyBytesMax: number;
  readonly now: number;
};

type Placed = LastEvent & { readonly entry: LogEntry };
/** The place of an event that was looked at. */
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
    to: Math.min(filter.to ?? Infinity, aheadFrom(0, now)),
  };

  /** Newest first; `each` is given what no page holds on to. */
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
      // More came late than was told: it goes on behind the last of that, and repeats what follows.
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

/** A cursor of a clock that was set back since: the caller goes on a minute ago, and gets the events by the right time. */
const placeNow = (place: LivePlace, now: number): LivePlace =>
  isAhead(place.since, 0, now) ? { since: cutOff(skewMsMax, now), seen: [] } : place;

/** The first, as many as a page may hold. */
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

/** `known`: all that was returned of the window, in order. `upTo`: what the log had of earlier times is among it. */
function placeBehind(known: readonly LastEvent[], upTo: number, before: number): LivePlace {
  const since = Math.max(before, upTo - lateMsMax);
  const last = known.at(-1);
  const within = known.slice(-windowMax - 1, -1).filter(({ at }) => at >= since);
  const seen = seenOf(within);
  if (!last) return { since, seen };
  return { since, last: { at: last.at, mark: last.mark, position: last.position }, seen };
}
