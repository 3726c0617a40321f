/** `/v2/events` and `/v2/logs`: the message log (docs/design/wire#the-message-log). */
import {
  eventPageJson,
  groupedLogPageJson,
  type LogEntryJson,
  logPageJson,
  type LogQuery,
  type messageLog,
} from "@posthaste/contract";
import { type Fault, isFault, type TenantId } from "@posthaste/domain";
import { entryJsons, withBodies } from "../log-bodies.ts";
import { followLog, type FollowParts } from "./follow-log.ts";
import { type Works } from "./work.ts";

export const messageLogWorks = (parts: FollowParts): Works<keyof typeof messageLog> => ({
  listEvents: async ({ tenant, onGone, query }) => {
    const { waitMs } = query;
    if (waitMs !== undefined)
      return followLog(parts, { tenant: tenant.id, onGone }, { ...query, waitMs });
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
  parts: FollowParts,
  tenant: TenantId,
  query: LogQuery,
): Promise<ListPage | Fault> {
  const scope = { tenant, list: "log", filter: query.filter };
  const opened = parts.paging.open(scope, query.page);
  if (isFault(opened)) return opened;
  const asked = { filter: opened.filter, byMessage: query.byMessage };
  const { items, next, bodies } = await withBodies(parts, tenant, asked, opened.page);
  const view = { sha256: parts.sha256, bodyBytesMax: query.page.bodyBytesMax };
  const entries = entryJsons(items, bodies, view);
  return { entries, cursor: parts.paging.seal(scope, opened, next) };
}
