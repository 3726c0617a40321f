/**
 * The next events of a log that is being written. The list is in the order of the events' times, and a row may come later
 * than rows of later times: from other processes, or when a write was repeated. So each reading looks back as well.
 *
 * (1) an event that the log has within `lateMsMax` of its time is returned at least once. When more than `windowMax` events stand
 *     within that time, it is looked for among the latest of these.
 * (2) an event is returned again only when another one came late close to it (seen.ts), or when more came late than fit a page.
 */
import { type LogFilter, type Sha256Hex, type TenantId } from "@posthaste/domain";
import { type LogEntry, type LogPage, type MessageLog } from "@posthaste/ports";
import { type LastEvent, type LivePlace } from "./place.ts";
import { markMax, seenOf, unseen } from "./seen.ts";

export const lateMsMax = 10_000;
const windowMax = 1_000;

export type LivePage = {
  readonly items: readonly LogEntry[];
  /** Behind them. */
  readonly place: LivePlace;
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

export async function livePage(
  messageLog: Pick<MessageLog, "list">,
  sha256: Sha256Hex,
  { tenant, filter, place, limit, bodyBytesMax, now }: LiveAsked,
): Promise<LivePage> {
  const last = place.last && place.last.at >= place.since ? place.last : undefined;
  const window = { ...filter, from: Math.max(filter.from ?? 0, place.since) };

  const lookBack = async (bytesMax: number): Promise<readonly Placed[]> => {
    if (!last) return [];
    const page = { after: last.position, limit: windowMax, bodyBytesMax: bytesMax };
    const listed = await messageLog.list(tenant, window, { ...page, order: "latestFirst" });
    return placed(listed, sha256).toReversed();
  };
  let before = await lookBack(0);
  let late = unseen(before, place.seen);
  if (late.length > 0 && bodyBytesMax > 0) {
    before = await lookBack(bodyBytesMax);
    late = unseen(before, place.seen);
  }
  const page = { limit, bodyBytesMax, ...(last && { after: last.position }) };
  const listed = await messageLog.list(tenant, window, { ...page, order: "earliestFirst" });
  const ahead = placed(listed, sha256);

  const shown = [...late, ...ahead].slice(0, limit);
  // More came late than fits: it goes on behind the last of these, and repeats what follows.
  const isBack = late.length > limit;
  const known = isBack
    ? before.slice(0, before.findIndex((each) => each === shown.at(-1)) + 1)
    : [...before, ...(last ? [last] : []), ...shown.slice(late.length)];
  const isFull = late.length + ahead.length > limit || listed.next !== undefined;
  return {
    items: shown.map(({ entry }) => entry),
    place: placeBehind(known, isFull ? (known.at(-1)?.at ?? 0) : now, place.since),
    isFull,
  };
}

const placed = ({ items, positions }: LogPage, sha256: Sha256Hex): readonly Placed[] =>
  items.flatMap((entry, n) => {
    const position = positions[n];
    if (position === undefined) return [];
    return {
      entry,
      position,
      at: entry.event.at,
      mark: parseInt(sha256(position).slice(0, markDigits), 16),
    };
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
