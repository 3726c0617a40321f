/** `GET /v2/events` with `wait`: follows the log as it is written (docs/design/wire#following-the-log). */
import { eventPageJson, type EventQuery, type ReadPermit } from "@posthaste/contract";
import {
  type Fault,
  isFault,
  limits,
  type LogFilter,
  type Sha256Hex,
  type TenantId,
} from "@posthaste/domain";
import { type Clock, type Ids, pause } from "@posthaste/ports";
import { type LivePage, livePage } from "../live-log/live-page.ts";
import { type LivePosition, parsePosition, positionText } from "../live-log/position.ts";
import { gatherMs, type LogWatchers, type Waiter } from "../live-log/watchers.ts";
import { createLogShower } from "../log-bodies.ts";
import { type Paging } from "../paging.ts";
import { type ReadsIn } from "../reads.ts";
import { type WithReadPermit } from "./handler.ts";

export type FollowParts = {
  readonly reads: ReadsIn;
  readonly paging: Paging;
  readonly sha256: Sha256Hex;
  readonly ids: Pick<Ids, "positionAt">;
  readonly watchers: LogWatchers;
  readonly clock: Clock;
};

type Caller = {
  readonly tenant: TenantId;
  /** Runs `task` when the caller has disconnected, or has its answer. */
  readonly onGone: (task: () => void) => void;
  readonly withPermit: WithReadPermit;
};

export async function followLog(
  parts: FollowParts,
  { tenant, onGone, withPermit }: Caller,
  query: EventQuery & { readonly waitMs: number },
) {
  const scope = { tenant, list: "followed log", filter: query.filter };
  const opened = parts.paging.open(scope, query.page);
  if (isFault(opened)) return opened;
  const { filter, page } = opened;
  const { limit, bodyBytesMax = 0 } = page;
  const asked = { tenant, filter, limit, bodyBytesMax };
  const answer = (from: LivePosition) => {
    const read = async (permit: ReadPermit) => {
      const { events, place } = await shownFrom(parts, permit, { ...asked, place: from });
      return { json: eventPageJson(events, parts.paging.seal(scope, opened, positionText(place))) };
    };
    return { status: 200, read } as const;
  };

  // The place to begin is returned at once: a caller that is cut off before it has a place would begin again, later.
  if (page.after === undefined)
    return answer({ since: filter.from ?? parts.clock.now(), seen: [] });
  const waiter = parts.watchers.join(tenant, filter);
  if (isFault(waiter)) return waiter;
  onGone(() => waiter.leave());
  try {
    const place = parsePosition(page.after);
    const { reads, sha256, clock } = parts;
    // Reads without bodies, which are read for the answer.
    const look = () =>
      withPermit(async (permit): Promise<Look> => {
        const now = clock.now();
        const page = { ...asked, place, bodyBytesMax: 0, now };
        const { isFull, items } = await livePage(reads(permit).log, sha256, page);
        return { isFull, hasSome: items.length > 0 };
      });
    const refused = await untilThereIsSome(look, waiter, query.waitMs, clock);
    return refused ?? answer(place);
  } finally {
    waiter.leave();
  }
}

/** Waits for events. Events that come together make one page: a page that is not full is read again a moment after its first event. */
async function untilThereIsSome(
  look: () => Promise<Look | Fault>,
  waiter: Waiter,
  waitMs: number,
  clock: Clock,
): Promise<Fault | undefined> {
  const until = clock.passedMs() + waitMs;
  let hasWaited = false;
  // Ends at the latest when the time is up.
  for (;;) {
    const seen = await look();
    if (isFault(seen)) return seen;
    const leftMs = until - clock.passedMs();
    const isEnough = seen.isFull || (hasWaited && seen.hasSome);
    if (isEnough || waiter.isOver || leftMs <= 0) return undefined;
    if (seen.hasSome) await pause(clock, Math.min(gatherMs, leftMs));
    else await waiter.grown(leftMs);
    hasWaited = true;
  }
}

type Look = Pick<LivePage, "isFull"> & { readonly hasSome: boolean };

type Asked = {
  readonly tenant: TenantId;
  readonly filter: LogFilter;
  readonly place: LivePosition;
  readonly limit: number;
  readonly bodyBytesMax: number;
};

const eventsAtOnce = 4;

/** Returns as many events as fit. If fewer fit than were read, the place is after the returned ones. */
async function shownFrom(parts: FollowParts, permit: ReadPermit, asked: Asked) {
  const { sha256, clock, ids } = parts;
  const reads = parts.reads(permit);
  const { tenant, bodyBytesMax } = asked;
  const page = await livePage(reads.log, sha256, { ...asked, now: clock.now() });
  const { show, isSpent } = createLogShower(reads, tenant, {
    sha256,
    positionAt: ids.positionAt,
    bodyBytesMax,
  });
  const events = [];
  let chars = 0;
  // Bounded by the page's events, and by their texts.
  while (events.length < page.items.length && !isSpent() && chars < limits.pageBytesMax) {
    const some = page.items.slice(events.length, events.length + eventsAtOnce);
    for (const json of await show(some)) {
      events.push(json);
      chars += JSON.stringify(json).length;
    }
  }
  return { events, place: page.placeAfter(events.length) };
}
