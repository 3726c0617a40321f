/** The RunLog port: heads by their places, which are the times of starts or of failures. */
import {
  type DlqId,
  type FailedRunFilter,
  type Run,
  type RunFilter,
  type TenantId,
} from "@posthaste/domain";
import { type Page, type RunLog, type RunPage } from "@posthaste/ports";
import { type Document } from "mongodb";
import { isUnderstood } from "../messages/stored.ts";
import { anyOf } from "../query/conditions.ts";
import { placesIn } from "../query/placed.ts";
import { dlqPlaceOf, isInDlq, runFrom } from "./stored-run.ts";
import { somePartsOf } from "./parts.ts";
import { createAttempts } from "./attempts.ts";
import { type RunRooms } from "./rooms.ts";

/** The server ends what no caller waits for any more. */
const pageMsMax = 10_000;
const order = "latestFirst";

export function createRunLog(rooms: RunRooms): RunLog {
  const { again, runs } = rooms;
  /** One further than the page is read, so that `next` is absent on the last one. */
  const page = (at: "place" | "dlqPlace", asked: Document, limit: number): Promise<Page<Run>> =>
    again(async () => {
      const cursor = runs
        .find(asked)
        .sort({ [at]: -1 })
        .limit(limit + 1)
        .maxTimeMS(pageMsMax);
      const found = await cursor.toArray();
      const items = found.slice(0, limit);
      const last = items.at(-1)?.[at];
      return {
        items: items.map(runFrom),
        ...(found.length > limit && last !== undefined && { next: last }),
      };
    });

  return {
    list: (tenant, filter, asked) =>
      page("place", conditions("place", tenant, filter, asked), asked.limit),
    failed: async (tenant, filter, asked) => {
      const { dlqIds } = filter;
      const query = {
        ...conditions("dlqPlace", tenant, filter, asked),
        $and: [{ dlqPlace: dlqIds ? { $in: dlqIds.map(placeOfLetter) } : { $exists: true } }],
      };
      const { items, ...next } = await page("dlqPlace", query, asked.limit);
      return { items: items.filter(isInDlq), ...next };
    },
    parts: ({ root }, after = "") => somePartsOf(rooms, root, after),
    ...createAttempts(rooms),
  };
}

const beginsWith = (texts: readonly string[]): string =>
  `^(?:${texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|")})`;

const placeOfLetter = (id: DlqId): string => dlqPlaceOf(id, Number.parseInt(id, 10) || 0);

function conditions(
  at: "place" | "dlqPlace",
  tenant: TenantId,
  filter: RunFilter & FailedRunFilter,
  { after }: RunPage,
): Document {
  const { callerIps, createdAt, flowControlKeys, id, labels, roots, runs, states } = filter;
  const { hosts, paths, statuses, urlPrefixes, urls } = filter;
  const places = placesIn(filter, { order, ...(after !== undefined && { after }) });
  return {
    tenant,
    ...isUnderstood,
    // What was swept leaves a mark, which has no place.
    [at]: { $gt: "", ...places },
    ...(id !== undefined && { id }),
    ...(createdAt !== undefined && { createdAt }),
    ...anyOf({
      root: roots,
      url: urls,
      hosts,
      path: paths,
      // None: a field that is not there.
      "state.failure.status": statuses?.map((status) => status || null),
      callerIp: callerIps,
      "state.kind": states,
      "plan.policy.labels": labels,
      "plan.policy.flow.key": flowControlKeys,
    }),
    ...(urlPrefixes && { url: { $regex: beginsWith(urlPrefixes) } }),
    // What the indexes of them ask to be said.
    ...(labels && { "plan.policy.labels.0": { $exists: true } }),
    ...(runs && { $or: runs.map((use) => ({ id: use.id, createdAt: use.createdAt })) }),
  };
}
