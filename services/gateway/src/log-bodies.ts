/** The bodies of messages on a page of their log: each is served while its record lives. */
import { logEntryJson, type LogEntryJson, type LogQuery } from "@posthaste/contract";
import { limits, type MessageId, type PageRequest, type TenantId } from "@posthaste/domain";
import { type LogEntry, type MessageLog, type Page, type Records } from "@posthaste/ports";
import { logPage } from "./log-page.ts";

export type Bodies = ReadonlyMap<MessageId, Uint8Array>;
export type BodyPorts = { readonly messageLog: MessageLog; readonly records: Records };
type WithBodies = Page<LogEntry> & { readonly bodies: Bodies };

export const entryJsons = (
  items: readonly LogEntry[],
  bodies: Bodies,
  view: Parameters<typeof logEntryJson>[1],
): readonly LogEntryJson[] =>
  items.map((entry) => {
    const body = bodies.get(entry.message.id);
    return logEntryJson({ ...entry, ...(body && { body }) }, view);
  });

/** Read at once. */
const bodiesPerRead = 4;

export async function withBodies(
  { messageLog, records }: BodyPorts,
  tenant: TenantId,
  query: Pick<LogQuery, "filter" | "byMessage">,
  page: PageRequest,
): Promise<WithBodies> {
  const got = await logPage(messageLog, tenant, query, page);
  const { bodies, entries } = await readBodies(records, tenant, got.items, page.bodyBytesMax);
  if (entries === got.items.length) return { ...got, bodies };
  const messages = new Set(got.items.slice(0, entries).map(({ message }) => message.id)).size;
  const limit = query.byMessage ? messages : entries;
  return { ...(await logPage(messageLog, tenant, query, { ...page, limit })), bodies };
}

/** `entries`: so many of these, from the first, have their bodies among those that were read. */
export async function readBodies(
  records: Records,
  tenant: TenantId,
  items: readonly LogEntry[],
  bodyBytesMax = Infinity,
): Promise<{ readonly bodies: Bodies; readonly entries: number }> {
  const bodies = new Map<MessageId, Uint8Array>();
  if (bodyBytesMax === 0) return { bodies, entries: items.length };
  const ids = [...new Set(items.map(({ message }) => message.id))];
  let bytesRead = 0;
  // Bounded by the page's messages, and by its bytes.
  for (let from = 0; from < ids.length; from += bodiesPerRead) {
    if (bytesRead > limits.readBytesMax)
      return { bodies, entries: items.findIndex(({ message }) => message.id === ids[from]) };
    for (const record of await records.get(tenant, ids.slice(from, from + bodiesPerRead))) {
      if (!record) continue;
      const { id, body, policy } = record.message;
      bytesRead += body.length;
      // A hash needs all of it; else nothing holds on to what is not shown.
      bodies.set(id, policy.redaction?.body ? body : body.slice(0, bodyBytesMax + 1));
    }
  }
  return { bodies, entries: items.length };
}
