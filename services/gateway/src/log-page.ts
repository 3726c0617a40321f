/** Pages of the message log: by event, or by message with all events of each. */
import { type LogQuery } from "@posthaste/contract";
import {
  configurationBytes,
  limits,
  type MessageId,
  type PageRequest,
  type TenantId,
} from "@posthaste/domain";
import { type LogEntry, type Page } from "@posthaste/ports";
import { type Reads } from "./reads.ts";

type Query = Pick<LogQuery, "filter" | "byMessage">;
/** Events that are shown together: one event, or all events of a message. */
export type LogGroup = readonly LogEntry[];

export async function logPage(
  log: Reads["log"],
  tenant: TenantId,
  query: Query,
  page: PageRequest,
): Promise<Page<LogGroup>> {
  if (query.byMessage) return pageOfMessages(log, tenant, query, page);
  const { items, ...rest } = await log(tenant, query.filter, page);
  return { ...rest, items: items.map((entry) => [entry]) };
}

/**
 * The number of events read for one page, and shown of its messages. A message with more events shows the first ones in
 * the list's order.
 */
const eventsMax = 1_000;
/** The number of messages read for one page. In a busy log, most events of a page belong to messages that earlier pages have shown. */
const messagesMax = 100;

/**
 * Returns at most `page.limit` messages, each on the page with its first event in the list's order, and no more than have room
 * for their events. A page may be short, or empty, without being the last.
 */
async function pageOfMessages(
  log: Reads["log"],
  tenant: TenantId,
  { filter }: Query,
  page: PageRequest,
): Promise<Page<LogGroup>> {
  const seen = await log(tenant, filter, { ...page, limit: eventsMax });
  const looked = new Set<MessageId>();
  const items: LogGroup[] = [];
  const positions: string[] = [];
  let shown = 0;
  let bytes = 0;
  for (const [i, entry] of seen.items.entries()) {
    const { id } = entry.message;
    if (looked.has(id)) continue;
    looked.add(id);
    const own = { ...filter, messageIds: [id] };
    const { items: events } = await log(tenant, own, { limit: eventsMax, order: page.order });
    // An event comes before the first page only if it happened after that page was read.
    const isFirst = page.after === undefined || isSame(events[0], entry);
    const isFull =
      isFirst &&
      (items.length === page.limit ||
        shown + events.length > eventsMax ||
        bytes >= limits.pageBytesMax);
    const next = seen.positions[i - 1];
    if (next !== undefined && (isFull || looked.size > messagesMax))
      return { items, positions, next };
    if (!isFirst) continue;
    items.push(events);
    positions.push(seen.positions[i] ?? "");
    shown += events.length;
    for (const event of events) bytes += bytesOf(event);
  }
  return { items, positions, ...(seen.next !== undefined && { next: seen.next }) };
}

const bytesOf = ({ message, fact }: LogEntry): number =>
  configurationBytes(message) + (fact?.response?.body.length ?? 0);

const isSame = (a: LogEntry | undefined, b: LogEntry): boolean =>
  a?.event.at === b.event.at &&
  a.event.attempt === b.event.attempt &&
  a.event.state === b.event.state;
