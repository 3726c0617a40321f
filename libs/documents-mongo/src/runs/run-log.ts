/** The RunLog port: heads by their places, which are the times of starts or of failures. */
import {
  type ActiveRunFilter,
  type DlqId,
  type FailedRunFilter,
  type Run,
  type RunFilter,
  type TenantId,
  answerOfFact,
  attemptReplacedBy,
  byTime,
  limits,
  type RunAttempt,
} from "@posthaste/domain";
import { type Page, type RunLog, type RunPage } from "@posthaste/ports";
import { type Document } from "mongodb";
import { bytes } from "../bytes.ts";
import { insertMissing } from "../writes/insert-missing.ts";
import { isKnownFormat } from "../messages/stored.ts";
import { among, bothOf, type Conditions, conditionsOf } from "../query/conditions.ts";
import { documentsWithin } from "../query/documents-within.ts";
import { placesIn } from "../query/placed.ts";
import { somePartsOf } from "./parts.ts";
import {
  type StoreWithRuns,
  dlqPlaceOf,
  isInDlq,
  runFrom,
  runsName,
  type StoredRun,
  attemptKey,
  type StoredAttempt,
} from "./store.ts";

const order = "latestFirst";

export function createRunLog(store: StoreWithRuns): RunLog {
  const { heavy } = store;
  const listed = heavy.collection<StoredRun>(runsName);
  const page = (
    tenant: TenantId,
    at: "place" | "dlqPlace",
    asked: Document,
    { limit, bytesMax = Infinity }: RunPage,
  ): Promise<Page<Run>> =>
    heavy.again(tenant)(async () => {
      const cursor = listed
        .find(asked)
        .sort({ [at]: -1 })
        .limit(limit + 1)
        .maxTimeMS(heavy.msMax);
      const { documents, isCut } = await documentsWithin(cursor, bytesMax);
      const items = documents.slice(0, limit);
      const positions = items.map((item) => item[at] ?? "");
      const next = isCut || documents.length > limit ? positions.at(-1) : undefined;
      return { items: items.map(runFrom), positions, ...(next !== undefined && { next }) };
    });

  return {
    list: (tenant, filter, asked) => {
      const listed = listedAt("place", tenant, filter, asked);
      return page(tenant, "place", bothOf(listed, conditionsOf(startedConditions, filter)), asked);
    },
    failed: async (tenant, filter, asked) => {
      // Selects the index of documents with a `dlqPlace`.
      const listed = {
        ...listedAt("dlqPlace", tenant, filter, asked),
        $and: [{ dlqPlace: { $exists: true } }],
      };
      const query = bothOf(listed, conditionsOf(failedConditions, filter));
      const { items, ...rest } = await page(tenant, "dlqPlace", query, asked);
      return { items: items.filter(isInDlq), ...rest };
    },
    parts: ({ root }, after = "") => somePartsOf(store, root, after),
    ...createAttempts(store),
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
  // The index holds only runs with labels, and only a query that asks for a first label uses it.
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
  // A status of 0 means no answer: the field is absent.
  statuses: (statuses) => among("state.failure.status")(statuses.map((each) => each || null)),
};

const listedAt = (
  at: "place" | "dlqPlace",
  tenant: TenantId,
  filter: Pick<RunFilter, "from" | "to">,
  { after }: RunPage,
): Document => ({
  tenant,
  ...isKnownFormat,
  // A swept run leaves a mark, which has no place.
  [at]: { $gt: "", ...placesIn(filter, { order, ...(after !== undefined && { after }) }) },
});

/** Attempts of the deliveries of runs: the workflow-log writes them, and they are read with their run. */
const createAttempts = ({
  again,
  attempts,
}: StoreWithRuns): Pick<RunLog, "attempts" | "append"> => ({
  attempts: async ({ root }) => {
    const latest = await again(() =>
      attempts.find({ run: root }).sort({ at: -1 }).limit(limits.runAttemptsShownMax).toArray(),
    );
    return latest.map(attemptFrom).toSorted(byTime);
  },
  append: async (told) => {
    const stored = told.map(({ run: { root, part }, fact }): StoredAttempt => {
      const response = fact.response && answerOfFact(fact.response);
      return {
        _id: attemptKey(root, part, fact.attempt),
        run: root,
        at: fact.endedAt,
        part,
        fact: { ...fact, ...(response && { response }) },
      };
    });
    await insertMissing(again, attempts, stored);
    const replaced = told.flatMap(({ run: { root, part }, fact: { attempt } }) => {
      const earlier = attemptReplacedBy(attempt);
      return earlier === undefined ? [] : attemptKey(root, part, earlier);
    });
    if (replaced.length > 0) await again(() => attempts.deleteMany({ _id: { $in: replaced } }));
  },
});

function attemptFrom({ part, fact: { response, ...fact } }: StoredAttempt): RunAttempt {
  if (!response) return { part, fact };
  return { part, fact: { ...fact, response: { ...response, body: bytes(response.body) } } };
}
