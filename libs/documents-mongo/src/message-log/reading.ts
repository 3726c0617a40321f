/**
 * Pages of the message log: events in the order of time, whichever rows tell them.
 *
 * A row stands at its last event and may tell earlier ones, of up to a second before. So beside the rows of a page, the rows
 * behind its newer end that reach across that end are read: all are within that second. Only their times and names are read;
 * the few rows whose events are on the page are then read whole.
 */
import { type LogEvent, type LogFilter, type PageRequest, type TenantId } from "@posthaste/domain";
import { type LogEntry, type Page } from "@posthaste/ports";
import { type Collection, type Document, type FindCursor } from "mongodb";
import {
  among,
  archivedConditions,
  type Conditions,
  conditionsOf,
  isByTerm,
} from "../query/conditions.ts";
import { digitsOf, type Placed } from "../query/placed.ts";
import { type Heavy } from "../connection.ts";
import { cutFor, readPage, type Scan } from "../query/read-page.ts";
import { shown } from "../query/shown.ts";
import {
  earlierMsMax,
  entriesOf,
  eventsOfRow,
  type LogItem,
  type NamesOfRow,
  type PlacedEntry,
} from "./rows.ts";

type Rows = Collection<Placed<LogItem>>;

type Told = { readonly place: string; readonly event: LogEvent } & (
  | { readonly entry: LogEntry }
  | { readonly row: string }
);

export async function readLog(
  heavy: Heavy,
  log: Rows,
  tenant: TenantId,
  filter: LogFilter,
  page: PageRequest,
): Promise<Page<LogEntry>> {
  const scan = scanOf(tenant, filter);
  const { items, next } = await readPage<LogItem>(heavy, log, scan, page);
  const latestFirst = page.order === "latestFirst";
  const newest = (latestFirst ? page.after : next) ?? endOf(filter);
  const across = newest === undefined ? [] : await readAcross(heavy, log, scan, newest);
  const inRows = items
    .flatMap(entriesOf)
    .map(({ place, item }): Told => ({ place, event: item.event, entry: item }));

  const isWanted = wantedBy(filter, page);
  // Events beyond the last row are told by rows that were not read.
  const isRead = ({ place }: Told): boolean =>
    next === undefined || (latestFirst ? place >= next : place <= next);
  const byPlace = new Map<string, Told>();
  for (const told of [...across, ...inRows])
    if (isRead(told) && isWanted(told)) byPlace.set(told.place, told);
  const places = [...byPlace.keys()].sort();
  if (latestFirst) places.reverse();

  const shownPlaces = places.slice(0, page.limit);
  const found = await entriesAt(
    heavy,
    log,
    scan,
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

const endOf = ({ to }: LogFilter): string | undefined =>
  to === undefined ? undefined : `${digitsOf(to)};`;

/** The most rows of one second, all of one tenant, that are looked at. */
const acrossMax = 100_000;

/** Reads the rows at or behind `place` that tell an event before it: small, and only as many as come in one second. */
const readAcross = (
  heavy: Heavy,
  log: Rows,
  scan: Scan<LogItem>,
  place: string,
): Promise<readonly Told[]> =>
  heavy.again(scan.tenant)(async () => {
    const told: Told[] = [];
    for await (const { _id: row, item } of acrossCursor(log, scan, place).maxTimeMS(heavy.msMax))
      told.push(...eventsOfRow(item).map((named) => ({ ...named, row })));
    return told;
  });

export function acrossCursor(
  log: Rows,
  { tenant, conditions }: Pick<Scan<LogItem>, "tenant" | "conditions">,
  place: string,
): FindCursor<{ readonly _id: string; readonly item: NamesOfRow }> {
  const [at = ""] = place.split(/[:;]/);
  const $lte = `${digitsOf(Number(at) + earlierMsMax)};`;
  const reaching: Document = {
    tenant,
    place: { $gte: place, $lte },
    first: { $lt: place },
    ...conditions,
  };
  return log
    .find(reaching)
    .project<{ readonly _id: string; readonly item: NamesOfRow }>({
      "item.event": 1,
      "item.earlier": 1,
      "item.message.id": 1,
    })
    .sort({ place: 1 })
    .limit(acrossMax);
}

/** An event whose row no longer tells it was swept meanwhile, and is left out. */
async function entriesAt(
  heavy: Heavy,
  log: Rows,
  scan: Scan<LogItem>,
  page: PageRequest,
  told: readonly Told[],
): Promise<readonly PlacedEntry[]> {
  const ids = [...new Set(told.flatMap((each) => ("row" in each ? each.row : [])))];
  const rows =
    ids.length === 0
      ? []
      : await heavy.again(scan.tenant)(() =>
          log
            .find({ _id: { $in: ids } })
            .maxTimeMS(heavy.msMax)
            .toArray(),
        );
  const entries = new Map(
    rows.flatMap(({ item }) =>
      entriesOf(cutFor(scan, page, item)).map(({ place, item: entry }) => [place, entry] as const),
    ),
  );
  return told.flatMap((each) => {
    const item = "entry" in each ? each.entry : entries.get(each.place);
    return item ? { place: each.place, item } : [];
  });
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
