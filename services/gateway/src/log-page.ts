/** Pages of the message log: by event, or by message with all events of each. */
import { type LogQuery } from "@posthaste/contract";
import { type MessageId, type PageRequest, type TenantId } from "@posthaste/domain";
import { type LogEntry, type MessageLog, type Page } from "@posthaste/ports";

type Query = Pick<LogQuery, "filter" | "byMessage">;

export function logPage(
  log: MessageLog,
  tenant: TenantId,
  query: Query,
  page: PageRequest,
): Promise<Page<LogEntry>> {
  return query.byMessage
    ? pageOfMessages(log, tenant, query, page)
    : log.list(tenant, query.filter, page);
}

/** Events looked at for one page, and shown of one page's messages; of a message that has more, the first in the list's order. */
const eventsMax = 1_000;
/** Messages looked at for one page: most events of a busy log's page are of messages that earlier pages have shown. */
const messagesMax = 100;

/**
 * At most `page.limit` messages, each on the page that its first event in the list's order falls on, and no more than
 * have room for their events. A page may be short, or empty, and yet not the last.
 */
async function pageOfMessages(
  log: MessageLog,
  tenant: TenantId,
  { filter }: Query,
  page: PageRequest,
): Promise<Page<LogEntry>> {
  const seen = await log.list(tenant, filter, { ...page, limit: eventsMax });
  const looked = new Set<MessageId>();
  const shown: LogEntry[][] = [];
  let end = seen.items.length;
  for (const [i, entry] of seen.items.entries()) {
    const { id } = entry.message;
    if (looked.has(id)) continue;
    looked.add(id);
    const { items } = await log.list(
      tenant,
      { ...filter, messageIds: [id] },
      { limit: eventsMax, order: page.order },
    );
    // Nothing comes before the first page but what has happened since it was read.
    const isFirst = page.after === undefined || isSame(items[0], entry);
    const events = shown.reduce((count, of) => count + of.length, isFirst ? items.length : 0);
    const isFull = isFirst && (shown.length === page.limit || events > eventsMax);
    if (i > 0 && (isFull || looked.size > messagesMax)) {
      end = i;
      break;
    }
    if (isFirst) shown.push([...items]);
  }
  if (end === seen.items.length) return withNext(shown.flat(), seen.next);
  // What has come in front meanwhile is left out; of the same millisecond it may move the end of a first page.
  const newest = page.order === "latestFirst" ? seen.items[0]?.event.at : undefined;
  const sameFront = newest === undefined ? filter : { ...filter, to: newest };
  const cut = await log.list(tenant, sameFront, { ...page, limit: end });
  const within = new Set(cut.items.map(({ message }) => message.id));
  return withNext(
    shown.flat().filter(({ message }) => within.has(message.id)),
    cut.next,
  );
}

const isSame = (a: LogEntry | undefined, b: LogEntry): boolean =>
  a?.event.at === b.event.at &&
  a.event.attempt === b.event.attempt &&
  a.event.state === b.event.state;

const withNext = (items: readonly LogEntry[], next: string | undefined): Page<LogEntry> =>
  next === undefined ? { items } : { items, next };
