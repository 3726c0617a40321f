/**
 * Pages of the message log: events in the order of time, whichever rows tell them.
 *
 * A row stands at its last event and may tell further ones, of up to a second before. So beside the rows of a page those are
 * read that stand behind its newer end and reach across it: few, and all within that second.
 */
import { type LogFilter, type PageRequest, type TenantId } from "@posthaste/domain";
import { type LogEntry, type LogPage } from "@posthaste/ports";
import { type Collection, type Document } from "mongodb";
import { anyOf, archivedConditions, isByTerm } from "../query/conditions.ts";
import { digitsOf, type Placed } from "../query/placed.ts";
import { readPage, type Scan } from "../query/read-page.ts";
import { shown } from "../query/shown.ts";
import { type Again } from "../retry.ts";
import { earlierMsMax, entriesOf, type LogItem, type PlacedEntry } from "./rows.ts";

export async function readLog(
  again: Again,
  log: Collection<Placed<LogItem>>,
  tenant: TenantId,
  filter: LogFilter,
  page: PageRequest,
): Promise<LogPage> {
  const scan = scanOf(tenant, filter);
  const { items, next } = await readPage<LogItem>(again, log, scan, page);
  const latestFirst = page.order === "latestFirst";
  const newest = (latestFirst ? page.after : next) ?? endOf(filter);
  const across = newest === undefined ? [] : await readAcross(again, log, scan, newest);

  const isWanted = wantedBy(filter, page);
  // What lies beyond the last row is told by rows that were not read.
  const isRead = ({ place }: PlacedEntry): boolean =>
    next === undefined || (latestFirst ? place >= next : place <= next);
  const byPlace = new Map<string, LogEntry>();
  for (const entry of [...items, ...across].flatMap(entriesOf))
    if (isRead(entry) && isWanted(entry)) byPlace.set(entry.place, entry.item);
  const places = [...byPlace.keys()].sort();
  if (latestFirst) places.reverse();

  const shownPlaces = places.slice(0, page.limit);
  const found = shownPlaces.flatMap((place) => byPlace.get(place) ?? []);
  const last = places.length > page.limit ? shownPlaces.at(-1) : next;
  const told = { items: found, positions: shownPlaces };
  return last === undefined ? told : { ...told, next: last };
}

const endOf = ({ to }: LogFilter): string | undefined =>
  to === undefined ? undefined : `${digitsOf(to)};`;

/** Rows at `place` or behind it that tell of something before it. */
async function readAcross(
  again: Again,
  log: Collection<Placed<LogItem>>,
  { tenant, conditions }: Pick<Scan<LogItem>, "tenant" | "conditions">,
  place: string,
): Promise<readonly LogItem[]> {
  const [at = ""] = place.split(/[:;]/);
  const $lte = `${digitsOf(Number(at) + earlierMsMax)};`;
  const reaching: Document = {
    tenant,
    place: { $gte: place, $lte },
    first: { $lt: place },
    ...conditions,
  };
  const rows = await again(() => log.find(reaching, { projection: { item: 1 } }).toArray());
  return rows.map(({ item }) => item);
}

function wantedBy(
  { from = 0, to = Number.POSITIVE_INFINITY, states }: LogFilter,
  { after, order }: PageRequest,
): (entry: PlacedEntry) => boolean {
  return ({ place, item: { event } }) => {
    if (event.at < from || event.at > to) return false;
    if (states && !states.includes(event.state)) return false;
    if (after === undefined) return true;
    return order === "latestFirst" ? place < after : place > after;
  };
}

const scanOf = (tenant: TenantId, filter: LogFilter): Scan<LogItem> => ({
  tenant,
  filter,
  conditions: {
    ...archivedConditions(filter),
    ...anyOf({ hosts: filter.hosts, path: filter.paths }),
    ...inStates(filter.states),
  },
  isById: filter.messageIds !== undefined || isByTerm(filter),
  bytesOf: ({ fact }) => fact?.response?.body.length ?? 0,
  rowsPerReply: 100,
  bodyFields: ["item.fact.response.body"],
  cut: ({ fact, ...entry }, bodyBytesMax) => {
    if (!fact?.response) return { ...entry, ...(fact && { fact }) };
    const { response } = fact;
    const body = shown(response.body, bodyBytesMax, entry.message);
    return { ...entry, fact: { ...fact, response: { ...response, body } } };
  },
});

/** An empty list answers nothing. */
function inStates(states: LogFilter["states"]): Document {
  if (!states) return {};
  const $in = [...states];
  return { $or: [{ "item.event.state": { $in } }, { "item.earlier.state": { $in } }] };
}
