/** `/v2/workflows/events` and `/v2/workflows/messageLogs`: the events of runs, run by run, newest first (docs/design/runs#reading). */
import { type ReadView, type RunLogQuery, type RunReading } from "@posthaste/contract";
import {
  type Fault,
  isFault,
  limits,
  messageId,
  type Run,
  type RunFilter,
  type TenantId,
} from "@posthaste/domain";
import { type Reads } from "../reads.ts";
import { type Read, readingOf, type RunLogParts, runsPerRead } from "./run-readings.ts";

/** The number of reads after which a page ends, however few events it has found. */
const readsMax = 250;

/** The place at which a page begins: after a run, or after an event of a run, from which the list continues with the next run. */
type Place = {
  readonly within?: { readonly root: string; readonly event: string };
  /** The position in the list of runs. Absent within the last run. */
  readonly after?: string;
};

type Query<Event> = Pick<RunLogQuery, "filter" | "page"> & {
  /** The name of the list, with the part of the query that the filter does not contain. */
  readonly list: string;
  /** Returns the events of a run, latest first. `place` sorts the events of a run, and never changes. */
  readonly eventsOf: (
    reading: RunReading,
    view: ReadView,
  ) => readonly { readonly place: string; readonly event: Event }[];
};

export function runEventPage<Event>(
  parts: RunLogParts,
  tenant: TenantId,
  { eventsOf, filter, list, page }: Query<Event>,
): Read<Event> | Fault {
  const scope = { tenant, list, filter };
  const opened = parts.paging.open(scope, page);
  if (isFault(opened)) return opened;
  const cursorAt = (place: Place | undefined) =>
    parts.paging.seal(scope, opened, place && textOf(place));
  const view = { sha256: parts.sha256, bodyBytesMax: page.bodyBytesMax };
  return async (permit) => {
    const reads = parts.reads(permit);
    const items: Event[] = [];
    let place = placeOf(opened.page.after);
    let chars = 0;
    const isFull = () => items.length === page.limit || chars >= limits.pageBytesMax;
    for (let count = 0; count < readsMax; count++) {
      const listed = await runsAt(reads, tenant, opened.filter, place);
      for (const [i, run] of listed.items.entries()) {
        const reading = await readingOf(reads, tenant, run, view);
        const behind = place.within?.event ?? endOfTime;
        const wanted = eventsOf(reading, view).filter(({ place: at }) => at < behind);
        let told = 0;
        for (const { event } of wanted) {
          if (isFull()) break;
          items.push(event);
          chars += JSON.stringify(event).length;
          told += 1;
        }
        if (!isFull()) continue;
        const isLast = i === listed.items.length - 1;
        const after = isLast || place.within ? listed.next : listed.positions[i];
        const rest = after === undefined ? undefined : { after };
        const last = told < wanted.length ? wanted[told - 1] : undefined;
        const within = last && { root: run.root, event: last.place };
        return { items, cursor: cursorAt(within ? { ...rest, within } : rest) };
      }
      if (listed.next === undefined) return { items, cursor: undefined };
      place = { after: listed.next };
    }
    return { items, cursor: cursorAt(place) };
  };
}

/** Sorts after every event. */
const endOfTime = "~";

type SomeRuns = {
  readonly items: readonly Run[];
  readonly positions: readonly string[];
  readonly next: string | undefined;
};

async function runsAt(
  { runs }: Pick<Reads, "runs">,
  tenant: TenantId,
  filter: RunFilter,
  { after, within }: Place,
): Promise<SomeRuns> {
  if (!within) {
    const page = { limit: runsPerRead, ...(after !== undefined && { after }) };
    const { next, ...listed } = await runs(tenant, filter, page);
    return { ...listed, next };
  }
  const { items } = await runs(tenant, { roots: [messageId(within.root)] }, { limit: 1 });
  return { items, positions: [], next: after };
}

const textOf = ({ after = "", within }: Place): string =>
  `${within?.root ?? ""}!${within?.event ?? ""}!${after}`;

function placeOf(text: string | undefined): Place {
  const [, root = "", event = "", after = ""] = /^([^!]*)!([^!]*)!(.*)$/s.exec(text ?? "") ?? [];
  return {
    ...(after !== "" && { after }),
    ...(root !== "" && { within: { root, event } }),
  };
}
