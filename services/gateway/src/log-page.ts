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

/** Events looked at for one page, and shown of one page's messages. */
const eventsMax = 1_000;

/**
 * `page.limit` messages, each on the page that its first event in the list's order falls on. The page ends before the
 * first event of one message more, which is found first and then asked up to.
 */
async function pageOfMessages(
  log: MessageLog,
  tenant: TenantId,
  { filter }: Query,
  page: PageRequest,
): Promise<Page<LogEntry>> {
  const seen = await log.list(tenant, filter, { ...page, limit: eventsMax });
  const ids = new Set<MessageId>();
  const end = seen.items.findIndex(({ message }) => ids.add(message.id).size > page.limit);
  const cut = end < 0 ? seen : await log.list(tenant, filter, { ...page, limit: end });
  const shown = new Set(cut.items.map(({ message }) => message.id));
  if (shown.size === 0) return { items: [] };
  const whole = await log.list(
    tenant,
    { ...filter, messageIds: [...shown] },
    { limit: eventsMax, order: page.order },
  );
  const first = new Map<MessageId, LogEntry>();
  for (const entry of whole.items)
    if (!first.has(entry.message.id)) first.set(entry.message.id, entry);
  const begins = (entry: LogEntry): boolean =>
    cut.items.some(
      ({ event, message }) => message.id === entry.message.id && sameEvent(event, entry.event),
    );
  const here = new Set([...first.values()].filter(begins).map(({ message }) => message.id));
  const items = whole.items.filter(({ message }) => here.has(message.id));
  return cut.next === undefined ? { items } : { items, next: cut.next };
}

const sameEvent = (a: LogEntry["event"], b: LogEntry["event"]): boolean =>
  a.at === b.at && a.attempt === b.attempt && a.state === b.state;
