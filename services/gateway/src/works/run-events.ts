/** `/v2/workflows/events`, `/v2/workflows/messageLogs`: what has happened to runs, run by run, the newest first (docs/design/runs#reading). */
import { type ReadView, type RunLogQuery, type RunReading } from "@posthaste/contract";
import { type Fault, isFault, messageId, type RunFilter, type TenantId } from "@posthaste/domain";
import {
  charsOf,
  type Listed,
  pageCharsMax,
  readingsOf,
  type RunLogParts,
  runsPerRead,
} from "./run-readings.ts";

/** A page looks no further, however few events it has found. */
const readsMax = 250;

/** Where a page begins: behind a run, or behind an event of one, after which the list goes on behind that run. */
type Place = {
  readonly within?: { readonly root: string; readonly event: string };
  /** Of the list of runs; absent within a run: it was the last one. */
  readonly after?: string;
};

type Query<Event> = Pick<RunLogQuery, "filter" | "page"> & {
  /** Names the list, with all of its question that the filter does not say. */
  readonly list: string;
  /** Latest first. `place`: sorts the events of a run, and stays theirs. */
  readonly eventsOf: (
    reading: RunReading,
    view: ReadView,
  ) => readonly { readonly place: string; readonly event: Event }[];
};

export async function runEventPage<Event>(
  parts: RunLogParts,
  tenant: TenantId,
  { eventsOf, filter, list, page }: Query<Event>,
): Promise<Listed<Event> | Fault> {
  const scope = { tenant, list, filter };
  const opened = parts.paging.open(scope, page);
  if (isFault(opened)) return opened;
  const cursorAt = (place: Place | undefined) =>
    parts.paging.seal(scope, opened, place && textOf(place));
  const view = { sha256: parts.sha256, bodyBytesMax: page.bodyBytesMax };
  const items: Event[] = [];
  let place = placeOf(opened.page.after);
  let chars = 0;
  for (let reads = 0; reads < readsMax; reads++) {
    const { next, readings } = await readAt(parts, tenant, opened.filter, place, view);
    for (const [i, reading] of readings.entries()) {
      chars += charsOf(reading);
      const behind = place.within?.event ?? endOfTime;
      const wanted = eventsOf(reading, view).filter(({ place: at }) => at < behind);
      const fitting = wanted.slice(0, page.limit - items.length);
      items.push(...fitting.map(({ event }) => event));
      if (items.length < page.limit && chars <= pageCharsMax) continue;
      const isLast = i === readings.length - 1;
      const after = isLast ? next : await nextOf(parts, tenant, opened.filter, place, i + 1);
      const rest = after === undefined ? undefined : { after };
      const last = fitting.length < wanted.length ? fitting.at(-1) : undefined;
      const within = last && { root: reading.run.root, event: last.place };
      return { items, cursor: cursorAt(within ? { ...rest, within } : rest) };
    }
    if (next === undefined) return { items, cursor: undefined };
    place = { after: next };
  }
  return { items, cursor: cursorAt(place) };
}

/** Behind it there is every event. */
const endOfTime = "~";

async function readAt(
  parts: RunLogParts,
  tenant: TenantId,
  filter: RunFilter,
  { after, within }: Place,
  view: ReadView,
): Promise<{ readonly readings: readonly RunReading[]; readonly next: string | undefined }> {
  const listed = within
    ? await parts.runLog.list(tenant, { roots: [messageId(within.root)] }, { limit: 1 })
    : await parts.runLog.list(tenant, filter, pageAt(after, runsPerRead));
  const readings = await readingsOf(parts, tenant, listed.items, view);
  return { readings, next: within ? after : listed.next };
}

/** What follows the first `count` runs behind that place. */
async function nextOf(
  { runLog }: RunLogParts,
  tenant: TenantId,
  filter: RunFilter,
  { after }: Place,
  count: number,
): Promise<string | undefined> {
  const { next } = await runLog.list(tenant, filter, pageAt(after, count));
  return next;
}

const pageAt = (after: string | undefined, limit: number) => ({
  limit,
  ...(after !== undefined && { after }),
});

const textOf = ({ after = "", within }: Place): string =>
  `${within?.root ?? ""}!${within?.event ?? ""}!${after}`;

function placeOf(text: string | undefined): Place {
  const [, root = "", event = "", after = ""] = /^([^!]*)!([^!]*)!(.*)$/s.exec(text ?? "") ?? [];
  return {
    ...(after !== "" && { after }),
    ...(root !== "" && { within: { root, event } }),
  };
}
