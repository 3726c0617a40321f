/** `/v2/events` and `/v2/logs`: the message log (docs/design/wire#the-message-log). */
import {
  eventPageJson,
  groupedLogPageJson,
  type LogEntryJson,
  logPageJson,
  type LogQuery,
  type messageLog,
} from "@posthaste/contract";
import { isFault, type TenantId } from "@posthaste/domain";
import { entryJsons, withBodies } from "../log-bodies.ts";
import { onePiece } from "../one-piece.ts";
import { followLog, type FollowParts } from "./follow-log.ts";
import { type Works } from "./work.ts";

export const messageLogWorks = (parts: FollowParts): Works<keyof typeof messageLog> => ({
  listEvents: async ({ tenant, onGone, query }) => {
    const { waitMs } = query;
    if (waitMs !== undefined)
      return followLog(parts, { tenant: tenant.id, onGone }, { ...query, waitMs });
    return answerOf(parts, tenant.id, query, eventPageJson);
  },
  listLogs: async ({ tenant, query }) =>
    answerOf(parts, tenant.id, query, query.byMessage ? groupedLogPageJson : logPageJson),
});

type PageJson = (entries: readonly LogEntryJson[], cursor: string | undefined) => object;

function answerOf(parts: FollowParts, tenant: TenantId, query: LogQuery, pageJson: PageJson) {
  const scope = { tenant, list: "log", filter: query.filter };
  const opened = parts.paging.open(scope, query.page);
  if (isFault(opened)) return opened;
  const asked = { filter: opened.filter, byMessage: query.byMessage };
  const view = { sha256: parts.sha256, bodyBytesMax: query.page.bodyBytesMax };
  const pieces = onePiece(async () => {
    const { items, next, bodies } = await withBodies(parts, tenant, asked, opened.page);
    return pageJson(entryJsons(items, bodies, view), parts.paging.seal(scope, opened, next));
  });
  return { status: 200, pieces } as const;
}
