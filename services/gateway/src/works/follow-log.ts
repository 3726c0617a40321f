/** `GET /v2/events` with `wait`: the log as it is written (docs/design/wire#following-the-log). */
import { eventPageJson, type EventQuery } from "@posthaste/contract";
import { isFault, type LogFilter, type Sha256Hex, type TenantId } from "@posthaste/domain";
import { type Clock, pause } from "@posthaste/ports";
import { type LivePage, livePage } from "../live-log/live-page.ts";
import { type LivePlace, placeFrom, textOfPlace } from "../live-log/place.ts";
import { gatherMs, type LogWatchers, type Waiter } from "../live-log/watchers.ts";
import { type Bodies, type BodyPorts, entryJsons, readBodies } from "../log-bodies.ts";
import { onePiece } from "../one-piece.ts";
import { type Paging } from "../paging.ts";

export type FollowParts = BodyPorts & {
  readonly paging: Paging;
  readonly sha256: Sha256Hex;
  readonly watchers: LogWatchers;
  readonly clock: Clock;
};

type Caller = {
  readonly tenant: TenantId;
  /** `task` runs when the caller has gone, or has its answer. */
  readonly onGone: (task: () => void) => void;
};

export async function followLog(
  parts: FollowParts,
  { tenant, onGone }: Caller,
  query: EventQuery & { readonly waitMs: number },
) {
  const scope = { tenant, list: "followed log", filter: query.filter };
  const opened = parts.paging.open(scope, query.page);
  if (isFault(opened)) return opened;
  const { filter, page } = opened;
  const { limit, bodyBytesMax = 0 } = page;
  const asked = { tenant, filter, limit, bodyBytesMax };
  const answer = (from: LivePlace) => {
    const pieces = onePiece(async () => {
      const { items, place, bodies } = await readWithBodies(parts, { ...asked, place: from });
      const cursor = parts.paging.seal(scope, opened, textOfPlace(place));
      const view = { sha256: parts.sha256, bodyBytesMax };
      return eventPageJson(entryJsons(items, bodies, view), cursor);
    });
    return { status: 200, pieces } as const;
  };

  // The place to begin is told at once: a caller that is cut off before it knows one would begin anew, later.
  if (page.after === undefined)
    return answer({ since: filter.from ?? parts.clock.now(), seen: [] });
  const waiter = parts.watchers.join(tenant, filter);
  if (isFault(waiter)) return waiter;
  onGone(() => waiter.leave());
  try {
    const place = placeFrom(page.after);
    const { messageLog, sha256, clock } = parts;
    // Without bodies: those are read for the answer, when there is room for it.
    const look = () =>
      livePage(messageLog, sha256, { ...asked, place, bodyBytesMax: 0, now: clock.now() });
    await untilThereIsSome(look, waiter, query.waitMs, clock);
    return answer(place);
  } finally {
    waiter.leave();
  }
}

/** Events that come together are one page: one that is not full is read a moment after its first event. */
async function untilThereIsSome(
  look: () => Promise<LivePage>,
  waiter: Waiter,
  waitMs: number,
  clock: Clock,
): Promise<void> {
  const until = clock.passedMs() + waitMs;
  let hasWaited = false;
  // Ends with the time, the latest.
  for (;;) {
    const page = await look();
    const leftMs = until - clock.passedMs();
    const isEnough = page.isFull || (hasWaited && page.items.length > 0);
    if (isEnough || waiter.isOver || leftMs <= 0) return;
    if (page.items.length > 0) await pause(clock, Math.min(gatherMs, leftMs));
    else await waiter.grown(leftMs);
    hasWaited = true;
  }
}

type Read = LivePage & { readonly bodies: Bodies };

type Asked = {
  readonly tenant: TenantId;
  readonly filter: LogFilter;
  readonly place: LivePlace;
  readonly limit: number;
  readonly bodyBytesMax: number;
};

async function readWithBodies(parts: FollowParts, asked: Asked): Promise<Read> {
  const { messageLog, records, sha256, clock } = parts;
  const { tenant, bodyBytesMax } = asked;
  const page = await livePage(messageLog, sha256, { ...asked, now: clock.now() });
  const { bodies, entries } = await readBodies(records, tenant, page.items, bodyBytesMax);
  if (entries === page.items.length) return { ...page, bodies };
  const cut = { ...asked, limit: entries, now: clock.now() };
  return { ...(await livePage(messageLog, sha256, cut)), bodies };
}
