/** `/v2/events` and `/v2/logs`: the message log (docs/design/wire#the-message-log). */
import {
  eventPageJson,
  groupedLogPageJson,
  type LogEntryJson,
  logPageJson,
  type LogQuery,
  type messageLog,
  type ReadPermit,
} from "@posthaste/contract";
import { isFault, limits, type TenantId } from "@posthaste/domain";
import { fitPage } from "../fit-page.ts";
import { createLogShower } from "../log-bodies.ts";
import { logPage } from "../log-page.ts";
import { followLog, type FollowParts } from "./follow-log.ts";
import { type Handlers } from "./handler.ts";

export const messageLogHandlers = (parts: FollowParts): Handlers<keyof typeof messageLog> => ({
  listEvents: async ({ tenant, onGone, query, withPermit }) => {
    const { waitMs } = query;
    if (waitMs !== undefined)
      return followLog(parts, { tenant: tenant.id, onGone, withPermit }, { ...query, waitMs });
    return answerOf(parts, tenant.id, query, eventPageJson);
  },
  listLogs: async ({ tenant, query }) =>
    query.byMessage
      ? answerOf(parts, tenant.id, query, groupedLogPageJson)
      : // The page contains each event twice.
        answerOf(parts, tenant.id, query, logPageJson, limits.pageBytesMax / 2),
});

type PageJson<Json> = (entries: readonly LogEntryJson[], cursor: string | undefined) => Json;

function answerOf<Json>(
  parts: FollowParts,
  tenant: TenantId,
  query: LogQuery,
  pageJson: PageJson<Json>,
  charsMax = limits.pageBytesMax,
) {
  const scope = { tenant, list: "log", filter: query.filter };
  const opened = parts.paging.open(scope, query.page);
  if (isFault(opened)) return opened;
  const asked = { filter: opened.filter, byMessage: query.byMessage };
  const { sha256, ids } = parts;
  const { bodyBytesMax } = query.page;
  const view = { sha256, positionAt: ids.positionAt, bodyBytesMax };
  const read = async (permit: ReadPermit) => {
    const reads = parts.reads(permit);
    const page = await logPage(reads.log, tenant, asked, opened.page);
    const { show, isSpent } = createLogShower(reads, tenant, view);
    const { shown, next } = await fitPage(page, (some) => Promise.all(some.map(show)), {
      isSpent,
      charsMax,
    });
    return { json: pageJson(shown.flat(), parts.paging.seal(scope, opened, next)) };
  };
  return { status: 200, read } as const;
}
