/**
 * Pages of the message log: events in the order of time, whichever rows contain them. A row is ordered by its last
 * event and may contain earlier ones, of up to a second before. So beside the rows of a page, later rows with an
 * event before the page's newer end are read: all are within that second. First only their times and names are read;
 * then the few rows whose events are on the page are read whole.
 */
import { type LogEvent, type LogFilter, type PageRequest, type TenantId } from "@posthaste/domain";
import { type LogEntry, type Page } from "@posthaste/ports";
import { type Collection, type Document, type FindCursor } from "mongodb";
import {
  among,
  archivedConditions,
  bothOf,
  type Conditions,
  conditionsOf,
  isByTerm,
} from "../query/conditions.ts";
import { digitsOf, type Placed } from "../query/placed.ts";
import { type Heavy } from "../connection.ts";
import { sizeOf } from "../query/documents-within.ts";
import { cutPage, readPage, type Scan, shownAs } from "../query/read-page.ts";
import { shown } from "../query/shown.ts";
import { ownNames, ownNamesFrom, ownPlace, ownScanOf, tellingUpTo } from "./own-rows.ts";
import {
  earlierMsMax,
  entriesOf,
  eventsOfRow,
  type LogItem,
  type NamesOfRow,
  type PlacedEntry,
} from "./rows.ts";

type Rows = Collection<Placed<LogItem>>;

/** `own`: the documents of records, some of which are rows. */
export type Listed = { readonly log: Rows; readonly own: Rows };

type Source = {
  readonly rows: Rows;
  readonly scan: Scan<LogItem>;
  readonly across: (place: string) => FindCursor<Named>;
};
type Named = { readonly _id: string; readonly item: NamesOfRow };

type Told = { readonly place: string; readonly event: LogEvent } & (
  | { readonly entry: LogEntry }
  | { readonly row: string; readonly of: Source }
);

export async function readLog(
  heavy: Heavy,
  listed: Listed,
  tenant: TenantId,
  filter: LogFilter,
  page: PageRequest,
): Promise<Page<LogEntry>> {
  const sources = sourcesOf(listed, tenant, filter);
  const pages = await Promise.all(
    sources.map(({ rows, scan }) => readPage<LogItem>(heavy, rows, scan, page)),
  );
  const { items, next } = together(pages, page);
  const latestFirst = page.order === "latestFirst";
  const newest = (latestFirst ? page.after : next) ?? endOf(filter);
  const across =
    newest === undefined
      ? []
      : await Promise.all(sources.map((source) => readAcross(heavy, source, newest)));
  const inRows = items
    .flatMap(entriesOf)
    .map(({ place, item }): Told => ({ place, event: item.event, entry: item }));

  const isWanted = wantedBy(filter, page);
  // Events beyond the last row are in rows that were not read.
  const isRead = ({ place }: Told): boolean =>
    next === undefined || (latestFirst ? place >= next : place <= next);
  const byPlace = new Map<string, Told>();
  for (const told of [...across.flat(), ...inRows])
    if (isRead(told) && isWanted(told)) byPlace.set(told.place, told);
  const places = [...byPlace.keys()].sort();
  if (latestFirst) places.reverse();

  const shownPlaces = places.slice(0, page.limit);
  const found = await entriesAt(
    heavy,
    page,
    shownPlaces.flatMap((place) => byPlace.get(place) ?? []),
  );
  const last = places.length > page.limit ? shownPlaces.at(-1) : next;
  const told = {
    items: found.map(({ item }) => item),
    positions: found.map(({ place }) => place),
  };
  return last === undefined ? told : { ...told, next: last };
}

function sourcesOf({ log, own }: Listed, tenant: TenantId, filter: LogFilter): readonly Source[] {
  const scan = scanOf(tenant, filter);
  const inLog = { rows: log, scan, across: (place: string) => acrossCursor(log, scan, place) };
  const ownScan = ownScanOf(tenant, filter);
  if (ownScan === undefined) return [inLog];
  const across = (place: string) => ownAcrossCursor(own, ownScan, place);
  return [inLog, { rows: own, scan: ownScan, across }];
}

type RowsRead = Pick<Page<LogItem>, "items"> & { readonly next?: string | undefined };
const nothing: RowsRead = { items: [] };

/** Merges two pages up to the end of the shorter one. Each page keeps to `bytesMax`; the merged page is cut to `bytesMax` again. */
function together(pages: readonly Page<LogItem>[], { bytesMax, order }: PageRequest): RowsRead {
  const [first = nothing, ...others] = pages.filter(
    ({ items, next }) => items.length > 0 || next !== undefined,
  );
  if (others.length === 0) return first;
  const inOrder = (a: string, b: string): number =>
    (a < b ? -1 : Number(a > b)) * (order === "latestFirst" ? -1 : 1);
  const [next] = pages.flatMap((each) => each.next ?? []).toSorted(inOrder);
  const rows = pages
    .flatMap(({ items, positions }) =>
      items.flatMap((item, n) => {
        const place = positions[n] ?? "";
        return next === undefined || inOrder(place, next) <= 0 ? { item, place } : [];
      }),
    )
    .toSorted((a, b) => inOrder(a.place, b.place));
  if (bytesMax === undefined) return { items: rows.map(({ item }) => item), next };
  let size = 0;
  const end = rows.findIndex(({ item }) => (size += sizeOf(item)) >= bytesMax);
  const within = end < 0 ? rows : rows.slice(0, end + 1);
  return {
    items: within.map(({ item }) => item),
    next: within.length < rows.length ? within.at(-1)?.place : next,
  };
}

const endOf = ({ to }: LogFilter): string | undefined =>
  to === undefined ? undefined : `${digitsOf(to)};`;

/** The most rows of one second and one tenant that are read. */
const acrossMax = 100_000;

/** Reads the rows at or after `place` that contain an event before it: only times and names, and only the rows of one second. */
const readAcross = (heavy: Heavy, of: Source, place: string): Promise<readonly Told[]> =>
  heavy.again(of.scan.tenant)(async () => {
    const told: Told[] = [];
    for await (const { _id: row, item } of of.across(place).maxTimeMS(heavy.msMax))
      told.push(...eventsOfRow(item).map((named) => ({ ...named, row, of })));
    return told;
  });

type Across = Pick<Scan<LogItem>, "tenant" | "conditions">;

export const acrossCursor = (
  log: Rows,
  { tenant, conditions }: Across,
  place: string,
): FindCursor<Named> =>
  log
    .find({ tenant, place: behind(place), first: { $lt: place }, ...conditions } as Document)
    .project<Named>({ "item.event": 1, "item.earlier": 1, "item.message.id": 1 })
    .sort({ place: 1 })
    .limit(acrossMax);

const ownAcrossCursor = (
  own: Rows,
  { tenant, conditions }: Across,
  place: string,
): FindCursor<Named> =>
  own
    .find({
      ...{ tenant, [ownPlace]: { ...behind(place), $exists: true } },
      ...bothOf(tellingUpTo(timeOf(place)), conditions),
    })
    .project(ownNames)
    .sort({ [ownPlace]: 1 })
    .limit(acrossMax)
    .map(ownNamesFrom);

const behind = (place: string) => ({
  $gte: place,
  $lte: `${digitsOf(timeOf(place) + earlierMsMax)};`,
});

const timeOf = (place: string): number => Number(place.split(/[:;]/, 1)[0]);

/** If a row no longer contains the event, it was swept meanwhile, and the event is left out. */
async function entriesAt(
  heavy: Heavy,
  page: PageRequest,
  told: readonly Told[],
): Promise<readonly PlacedEntry[]> {
  const inRows = Map.groupBy(
    told.filter((each) => "row" in each),
    ({ of }) => of,
  );
  const entries = new Map<string, LogEntry>();
  for (const [source, some] of inRows)
    for (const item of await readRows(heavy, source, page, new Set(some.map(({ row }) => row))))
      for (const { place, item: entry } of entriesOf(item)) entries.set(place, entry);
  return told.flatMap((each) => {
    const item = "entry" in each ? each.entry : entries.get(each.place);
    return item ? { place: each.place, item } : [];
  });
}

async function readRows(
  heavy: Heavy,
  { rows, scan }: Source,
  page: PageRequest,
  ids: ReadonlySet<string>,
): Promise<readonly LogItem[]> {
  const found = await heavy.again(scan.tenant)(() =>
    shownAs(rows.find({ _id: { $in: [...ids] } }), scan)
      .maxTimeMS(heavy.msMax)
      .toArray(),
  );
  return found.map(({ item }) => cutPage(scan, page, item));
}

function wantedBy(
  { from = 0, to = Number.POSITIVE_INFINITY, states }: LogFilter,
  { after, order }: PageRequest,
): (told: Told) => boolean {
  return ({ place, event }) => {
    if (event.at < from || event.at > to) return false;
    if (states && !states.includes(event.state)) return false;
    if (after === undefined) return true;
    return order === "latestFirst" ? place < after : place > after;
  };
}

const scanOf = (tenant: TenantId, filter: LogFilter): Scan<LogItem> => ({
  tenant,
  filter,
  conditions: conditionsOf(logConditions, filter),
  isById: filter.messageIds !== undefined || isByTerm(filter),
  bytesOf: ({ fact }) => fact?.response?.body.length ?? 0,
  bodyFields: ["item.fact.response.body"],
  cut: ({ fact, ...entry }, bodyBytesMax) => {
    if (!fact?.response) return { ...entry, ...(fact && { fact }) };
    const { response } = fact;
    const body = shown(response.body, bodyBytesMax, entry.message);
    return { ...entry, fact: { ...fact, response: { ...response, body } } };
  },
});

const logConditions: Conditions<LogFilter> = {
  ...archivedConditions,
  hosts: among("hosts"),
  paths: among("path"),
  states: (states) => ({
    $or: [among("item.event.state")(states), among("item.earlier.state")(states)],
  }),
};
