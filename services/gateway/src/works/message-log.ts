/** `/v2/events` and `/v2/logs`: the message log (docs/design/wire#the-message-log). */
import {
  eventPageJson,
  groupedLogPageJson,
  logEntryJson,
  type LogEntryJson,
  logPageJson,
  type LogQuery,
  type messageLog,
} from "@posthaste/contract";
import {
  type Fault,
  isFault,
  type MessageId,
  type PageRequest,
  type Sha256Hex,
  type TenantId,
} from "@posthaste/domain";
import { type LogEntry, type MessageLog, type Page, type Records } from "@posthaste/ports";
import { logPage } from "../log-page.ts";
import { type Paging } from "../paging.ts";
import { type Works } from "./work.ts";

export type MessageLogParts = {
  readonly messageLog: MessageLog;
  readonly records: Records;
  readonly paging: Paging;
  readonly sha256: Sha256Hex;
};

export const messageLogWorks = (parts: MessageLogParts): Works<keyof typeof messageLog> => ({
  listEvents: async ({ tenant, query }) => {
    const page = await readPage(parts, tenant.id, query);
    if (isFault(page)) return page;
    return { status: 200, json: eventPageJson(page.entries, page.cursor) };
  },
  listLogs: async ({ tenant, query }) => {
    const page = await readPage(parts, tenant.id, query);
    if (isFault(page)) return page;
    const pageJson = query.byMessage ? groupedLogPageJson : logPageJson;
    return { status: 200, json: pageJson(page.entries, page.cursor) };
  },
});

type ListPage = {
  readonly entries: readonly LogEntryJson[];
  readonly cursor: string | undefined;
};

async function readPage(
  parts: MessageLogParts,
  tenant: TenantId,
  query: LogQuery,
): Promise<ListPage | Fault> {
  const scope = { tenant, list: "log", filter: query.filter };
  const opened = parts.paging.open(scope, query.page);
  if (isFault(opened)) return opened;
  const asked = { filter: opened.filter, byMessage: query.byMessage };
  const { items, next, bodies } = await withBodies(parts, tenant, asked, opened.page);
  const view = { sha256: parts.sha256, bodyBytesMax: query.page.bodyBytesMax };
  const entries = items.map((entry) => {
    const body = bodies.get(entry.message.id);
    return logEntryJson({ ...entry, ...(body && { body }) }, view);
  });
  return { entries, cursor: parts.paging.seal(scope, opened, next) };
}

type WithBodies = Page<LogEntry> & { readonly bodies: ReadonlyMap<MessageId, Uint8Array> };

/** Of all bodies of one page as they are read; then the page is short. */
const bytesReadMax = 32 * 1024 * 1024;
/** Read at once. */
const bodiesPerRead = 4;

/** A body is served while its record lives. */
export async function withBodies(
  { messageLog, records }: Pick<MessageLogParts, "messageLog" | "records">,
  tenant: TenantId,
  query: Pick<LogQuery, "filter" | "byMessage">,
  page: PageRequest,
): Promise<WithBodies> {
  const got = await logPage(messageLog, tenant, query, page);
  const { bodyBytesMax = Infinity } = page;
  const bodies = new Map<MessageId, Uint8Array>();
  if (bodyBytesMax === 0) return { ...got, bodies };
  const ids = [...new Set(got.items.map(({ message }) => message.id))];
  let bytesRead = 0;
  // Bounded by the page's messages, and by its bytes.
  for (let from = 0; from < ids.length; from += bodiesPerRead) {
    if (bytesRead > bytesReadMax) {
      const entries = got.items.findIndex(({ message }) => message.id === ids[from]);
      const limit = query.byMessage ? from : entries;
      return { ...(await logPage(messageLog, tenant, query, { ...page, limit })), bodies };
    }
    for (const record of await records.get(tenant, ids.slice(from, from + bodiesPerRead))) {
      if (!record) continue;
      const { id, body, policy } = record.message;
      bytesRead += body.length;
      // A hash needs all of it; else nothing holds on to what is not shown.
      bodies.set(id, policy.redaction?.body ? body : body.slice(0, bodyBytesMax + 1));
    }
  }
  return { ...got, bodies };
}
