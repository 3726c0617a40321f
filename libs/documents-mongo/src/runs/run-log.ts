/** The RunLog port: heads by their places, which are the times of starts or of failures. */
import {
  type ActiveRunFilter,
  type DlqId,
  type FailedRunFilter,
  type Run,
  type RunFilter,
  type TenantId,
} from "@posthaste/domain";
import { type Page, type RunLog, type RunPage } from "@posthaste/ports";
import { type Document } from "mongodb";
import { isUnderstood } from "../messages/stored.ts";
import { among, bothOf, type Conditions, conditionsOf } from "../query/conditions.ts";
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
    list: (tenant, filter, asked) => {
      const listed = listedAt("place", tenant, filter, asked);
      return page("place", bothOf(listed, conditionsOf(startedConditions, filter)), asked.limit);
    },
    failed: async (tenant, filter, asked) => {
      // Said for the index of those that have one.
      const listed = {
        ...listedAt("dlqPlace", tenant, filter, asked),
        $and: [{ dlqPlace: { $exists: true } }],
      };
      const query = bothOf(listed, conditionsOf(failedConditions, filter));
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

const common: Conditions<Omit<ActiveRunFilter, "from" | "to">> = {
  id: (id) => ({ id }),
  createdAt: (createdAt) => ({ createdAt }),
  urls: among("url"),
  urlPrefixes: (prefixes) => ({ url: { $regex: beginsWith(prefixes) } }),
  hosts: among("hosts"),
  paths: among("path"),
  callerIps: among("callerIp"),
  // What the index of them asks to be said.
  labels: (labels) => ({
    ...among("plan.policy.labels")(labels),
    "plan.policy.labels.0": { $exists: true },
  }),
  flowControlKeys: among("plan.policy.flow.key"),
};

const startedConditions: Conditions<RunFilter> = {
  ...common,
  runs: (runs) => ({ $or: runs.map(({ id, createdAt }) => ({ id, createdAt })) }),
  roots: among("root"),
  states: among("state.kind"),
};

const failedConditions: Conditions<FailedRunFilter> = {
  ...common,
  dlqIds: (ids) => among("dlqPlace")(ids.map(placeOfLetter)),
  // None: a field that is not there.
  statuses: (statuses) => among("state.failure.status")(statuses.map((each) => each || null)),
};

const listedAt = (
  at: "place" | "dlqPlace",
  tenant: TenantId,
  filter: Pick<RunFilter, "from" | "to">,
  { after }: RunPage,
): Document => ({
  tenant,
  ...isUnderstood,
  // What was swept leaves a mark, which has no place.
  [at]: { $gt: "", ...placesIn(filter, { order, ...(after !== undefined && { after }) }) },
});
