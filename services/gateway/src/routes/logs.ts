/** `/v2/events` and `/v2/logs`: the message log (protocol/qstash.md §1.9). */
import {
  eventPageJson,
  groupedLogPageJson,
  logEntryJson,
  type LogEntryJson,
  logPageJson,
  type LogQuery,
  parseLogQuery,
} from "@posthaste/contract";
import { type Fault, isFault, type MessageId, type Sha256Hex } from "@posthaste/domain";
import { type LogEntry, type MessageLog, type MessageStore, type Tenant } from "@posthaste/ports";
import { reply, type RoutedPath } from "@posthaste/runtime";
import { admitted, type Door } from "../door.ts";
import { logPage } from "../log-page.ts";
import { type Paging } from "../paging.ts";

export type LogParts = {
  readonly messageLog: MessageLog;
  readonly messages: MessageStore;
  readonly paging: Paging;
  readonly sha256: Sha256Hex;
};

type ListPage = {
  readonly query: LogQuery;
  readonly entries: readonly LogEntryJson[];
  readonly cursor: string | undefined;
};

export function logRoutes(door: Door, parts: LogParts): readonly RoutedPath[] {
  const route = (path: string, render: (page: ListPage) => object): RoutedPath => ({
    path,
    methods: {
      GET: admitted(door, "list", async ({ tenant, search }) => {
        const page = await readPage(parts, tenant, search);
        return isFault(page) ? page : reply(render(page));
      }),
    },
  });
  return [
    route("/v2/events", ({ entries, cursor }) => eventPageJson(entries, cursor)),
    route("/v2/logs", ({ query, entries, cursor }) =>
      query.byMessage ? groupedLogPageJson(entries, cursor) : logPageJson(entries, cursor),
    ),
  ];
}

async function readPage(
  parts: LogParts,
  tenant: Tenant,
  search: string,
): Promise<ListPage | Fault> {
  const query = parseLogQuery(search);
  if (isFault(query)) return query;
  const scope = { tenant: tenant.id, list: "log", filter: query.filter };
  const page = parts.paging.open(scope, query.page);
  if (isFault(page)) return page;
  const { items, next } = await logPage(parts.messageLog, tenant.id, query, page);
  const bodies =
    query.page.bodyBytesMax > 0 ? await bodiesOf(parts.messages, tenant, items) : noBodies;
  const view = { sha256: parts.sha256, bodyBytesMax: query.page.bodyBytesMax };
  const entries = items.map((entry) => {
    const body = bodies.get(entry.message.id);
    return logEntryJson({ ...entry, ...(body && { body }) }, view);
  });
  return { query, entries, cursor: parts.paging.seal(scope, next) };
}

const noBodies: ReadonlyMap<MessageId, Uint8Array> = new Map();

/** A body is served while its record lives (decisions.md 13). */
async function bodiesOf(
  messages: MessageStore,
  tenant: Tenant,
  items: readonly LogEntry[],
): Promise<ReadonlyMap<MessageId, Uint8Array>> {
  const ids = [...new Set(items.map(({ message }) => message.id))];
  if (ids.length === 0) return noBodies;
  const records = await messages.get(tenant.id, ids);
  return new Map(
    records.flatMap((record) => (record ? [[record.message.id, record.message.body]] : [])),
  );
}
