/** The parameters of lists of runs. An unknown name is refused. */
import {
  type ActiveRunFilter,
  dlqId,
  type FailedRunFilter,
  type Fault,
  isFault,
  messageId,
  type RunFilter,
  runId,
  type RunState,
} from "@posthaste/domain";
import { type FunctionState, functionStates } from "../workflow/run-failure.ts";
import { runMessageStates } from "../workflow/run-messages.ts";
import { type runStates, type stepStates } from "../workflow/run-step.ts";
import {
  dateMax,
  field,
  type Fields,
  namesOf,
  notAsked,
  place,
  readFields,
  times,
} from "./fields.ts";
import { type PageQuery, parsePage } from "./page.ts";
import {
  addressValue,
  integer,
  parameterFault,
  type QueryValues,
  readQuery,
  several,
  severalOf,
  severalUrls,
  single,
} from "./query-values.ts";

/** Filters that every list of runs takes. */
export const commonFields: Fields<
  Pick<
    ActiveRunFilter,
    "id" | "createdAt" | "urls" | "labels" | "flowControlKeys" | "callerIps" | "from" | "to"
  >
> = {
  urls: field(["workflowUrl"], parseUrls),
  id: field(["workflowRunId"], (values) => {
    const id = single(values, "workflowRunId");
    if (id === undefined || isFault(id)) return id;
    return id === "" ? parameterFault("workflowRunId", "must not be empty") : runId(id);
  }),
  createdAt: field(["workflowCreatedAt"], (values) =>
    integer(values, "workflowCreatedAt", { min: 0, max: dateMax }),
  ),
  labels: field(["label"], several),
  flowControlKeys: field(["flowControlKey"], several),
  callerIps: field(["callerIp"], (values, names) => severalOf(addressValue, values, names)),
  ...times,
};

/** `states`: the states of runs that may match the `state` parameter. */
const fieldsWith = (states: Kinds): Fields<RunFilter> => ({
  ...commonFields,
  urlPrefixes: notAsked("workflowUrl"),
  ...place,
  runs: field(["workflowRuns"], parseUses),
  roots: field(["messageId"], parseRoots),
  states: field(["state"], () => states),
});

const failedFields: Fields<FailedRunFilter> = {
  ...commonFields,
  urls: field(
    ["workflowUrl", "url"],
    (values) => parseUrls(values) ?? severalUrls(values, ["url"]),
  ),
  urlPrefixes: notAsked("workflowUrl"),
  hosts: notAsked("host"),
  paths: notAsked("path"),
  dlqIds: field(["dlqIds"], parseDlqIds),
  statuses: field(["responseStatus"], (values) => {
    const status = integer(values, "responseStatus", { min: 0, max: 999 });
    return status === undefined || isFault(status) ? status : [status];
  }),
};

export const runEventNames: ReadonlySet<string> = new Set([
  ...namesOf(fieldsWith(undefined)),
  "cursor",
  "count",
  "trimBody",
  "groupBy",
]);

export const runMessageNames: ReadonlySet<string> = new Set(
  [...runEventNames].filter((name) => name !== "groupBy"),
);

export const runLogNames: ReadonlySet<string> = new Set([...runEventNames, "steps"]);

export const failedRunNames: ReadonlySet<string> = new Set([
  ...namesOf(failedFields),
  "cursor",
  "count",
  "failureFunctionState",
  "failureCallbackState",
  "source",
]);

export type RunLogQuery = {
  readonly filter: RunFilter;
  readonly page: PageQuery;
  /** Lists only runs with a step that is being retried. */
  readonly isRetried: boolean;
  /** Whether the parts of runs and the attempts of their steps are read, too. */
  readonly withSteps: boolean;
  /** Set when events of runs are listed instead of runs: all events, or those that led to `state`. */
  readonly events?: { readonly state?: string };
};

export type RunMessageQuery = {
  readonly filter: RunFilter;
  readonly page: PageQuery;
  /** Absent for every state. */
  readonly state?: string;
  /** Absent for every message. */
  readonly messageIds?: ReadonlySet<string>;
};

export type FailedRunQuery = {
  readonly filter: FailedRunFilter;
  readonly page: PageQuery;
  readonly functionStates?: readonly FunctionState[];
};

type Kinds = readonly RunState["kind"][] | undefined;

/** The states of runs that may have a step in the given state. */
const kindsOf: ReadonlyMap<string, Kinds> = new Map<string, Kinds>(
  Object.entries({
    RUN_STARTED: ["active"],
    RUN_SUCCESS: ["succeeded"],
    RUN_FAILED: ["failed"],
    RUN_CANCELED: ["canceled"],
    STEP_SUCCESS: undefined,
    STEP_PROGRESS: ["active"],
    STEP_RETRY: ["active"],
    STEP_FAILED: ["failed"],
    STEP_CANCELED: ["canceled"],
  } satisfies Record<(typeof runStates)[number] | (typeof stepStates)[number], Kinds>),
);

/**
 * The states of runs that may have an event of the given state: an event of a run's end only a run in that state now,
 * most other events any run.
 */
const kindsWithEvent: typeof kindsOf = new Map<string, Kinds>([
  ...[...kindsOf].map(([state, kinds]): [string, Kinds] => [
    state,
    state.startsWith("RUN_") ? kinds : undefined,
  ]),
  ["STEP_FAILED", ["failed"]],
  ["STEP_CANCELED", ["failed", "canceled"]],
]);

const runsMax = 1_000;
const groupedMax = 10;
export const failedRunsMax = 100;

/**
 * Parses the query of a log of runs. `bodies`: whether bodies are included unless the query decides. `ungrouped`: the
 * items without `groupBy`. `search` is the text after the `?`.
 */
export const parseRunLogQuery =
  (bodies: "shown" | "left out", ungrouped: "runs" | "events") =>
  (search: string): RunLogQuery | Fault => {
    const given = readQuery(search, ungrouped === "runs" ? runLogNames : runEventNames);
    if (isFault(given)) return given;
    // `workflowRuns` names the runs in full, so the other filters are ignored.
    const values = given.has("workflowRuns") ? withoutFilters(given) : given;
    const groupBy = single(values, "groupBy");
    if (isFault(groupBy)) return groupBy;
    if (groupBy !== undefined && groupBy !== "workflowRunId")
      return parameterFault("groupBy", "must be workflowRunId");
    const countMax = groupBy === undefined ? runsMax : groupedMax;
    const page = parsePage(values, { countDefault: countMax, countMax, order: "latestFirst" });
    if (isFault(page)) return page;
    const state = single(values, "state");
    if (isFault(state)) return state;
    if (state !== undefined && !kindsOf.has(state))
      return parameterFault("state", `must be one of ${[...kindsOf.keys()].join(", ")}`);
    const isFlat = ungrouped === "events" && groupBy === undefined;
    const states = (isFlat ? kindsWithEvent : kindsOf).get(state ?? "");
    const filter = readFields(fieldsWith(states), values);
    if (isFault(filter)) return filter;
    const steps = single(values, "steps") ?? "all";
    if (isFault(steps)) return steps;
    if (steps !== "all" && steps !== "none") return parameterFault("steps", "must be all or none");
    const isBare = bodies === "left out" && !values.has("trimBody");
    const bodyBytesMax = isBare ? 0 : page.bodyBytesMax;
    const events = isFlat ? { events: state === undefined ? {} : { state } } : {};
    const isRetried = state === "STEP_RETRY";
    const withSteps = steps === "all";
    return { filter, page: { ...page, bodyBytesMax }, isRetried, withSteps, ...events };
  };

/** The states of runs that may have a message in the given state. */
const kindsWithMessage: typeof kindsOf = new Map<string, Kinds>([
  ...runMessageStates.map((state): [string, Kinds] => [state, kindsOf.get(state)]),
  ["FAILED", ["failed"]],
  ["CANCEL_REQUESTED", ["canceled"]],
  ["CANCELED", ["failed", "canceled"]],
]);

export function parseRunMessageQuery(search: string): RunMessageQuery | Fault {
  const given = readQuery(search, runMessageNames);
  if (isFault(given)) return given;
  const values = given.has("workflowRuns") ? withoutFilters(given) : given;
  const page = parsePage(values, {
    countDefault: runsMax,
    countMax: runsMax,
    order: "latestFirst",
  });
  if (isFault(page)) return page;
  const state = single(values, "state");
  if (isFault(state)) return state;
  if (state !== undefined && !kindsWithMessage.has(state))
    return parameterFault("state", `must be one of ${runMessageStates.join(", ")}`);
  const filter = readFields(fieldsWith(kindsWithMessage.get(state ?? "")), values);
  if (isFault(filter)) return filter;
  const ids = several(values, ["messageId"]);
  if (isFault(ids)) return ids;
  return {
    ...{ filter, page },
    ...(state !== undefined && { state }),
    ...(ids && { messageIds: new Set(ids) }),
  };
}

function parseRoots(values: QueryValues): RunFilter["roots"] | Fault {
  const ids = several(values, ["messageId"]);
  if (ids === undefined || isFault(ids)) return ids;
  return ids.map((id) => messageId(id.replace(/_r(adopted|[a-z][0-9]*)$/, "")));
}

const withoutFilters = (given: QueryValues): QueryValues =>
  new Map([...given].filter(([name]) => namesBesideFilters.has(name)));
const namesBesideFilters = new Set([
  "workflowRuns",
  "cursor",
  "count",
  "trimBody",
  "groupBy",
  "steps",
]);

function parseUses(values: QueryValues): RunFilter["runs"] | Fault {
  const texts = several(values, ["workflowRuns"]);
  if (!texts || isFault(texts)) return texts;
  const uses = texts.flatMap((text) => {
    const [, id, createdAt] = /^(.+)@(\d{1,15})$/.exec(text) ?? [];
    return id === undefined ? [] : { id: runId(id), createdAt: Number(createdAt) };
  });
  if (uses.length < texts.length)
    return parameterFault("workflowRuns", "must be pairs of workflowRunId@workflowCreatedAt");
  return uses.length > usesMax ? parameterFault("workflowRuns", `at most ${usesMax}`) : uses;
}

const usesMax = 100;

export function parseFailedRunQuery(search: string): FailedRunQuery | Fault {
  const values = readQuery(search, failedRunNames);
  return isFault(values) ? values : failedRunQuery(values);
}

function failedRunQuery(values: QueryValues): FailedRunQuery | Fault {
  const source = single(values, "source");
  if (isFault(source)) return source;
  if (source !== undefined && source !== "workflow")
    return parameterFault("source", "must be workflow");
  const page = parsePage(values, {
    countDefault: failedRunsMax,
    countMax: failedRunsMax,
    order: "latestFirst",
  });
  if (isFault(page)) return page;
  const filter = readFields(failedFields, values);
  if (isFault(filter)) return filter;
  const states = parseFunctionStates(values);
  if (isFault(states)) return states;
  return { filter, page, ...(states && { functionStates: states }) };
}

function parseDlqIds(values: QueryValues): FailedRunFilter["dlqIds"] | Fault {
  const ids = several(values, ["dlqIds"]);
  if (ids === undefined || isFault(ids)) return ids;
  return ids.length > failedRunsMax
    ? parameterFault("dlqIds", `must hold at most ${failedRunsMax} values`)
    : ids.map(dlqId);
}

/** `ids`: the parameter that would name runs. */
export const namesNoRun = (ids: string): Fault =>
  parameterFault(ids, "must be given, or count, or a filter: the call selects no run");

/** Selects failed runs, up to `max` in each call. The call must select them somehow, if only by a count. */
export const parseFailedRunSelection =
  (max: number) =>
  (search: string): FailedRunQuery | Fault => {
    const values = readQuery(search, failedRunNames);
    if (isFault(values)) return values;
    const query = failedRunQuery(values);
    if (isFault(query)) return query;
    if (!values.has("count") && Object.keys(query.filter).length === 0) return namesNoRun("dlqIds");
    if ((query.filter.dlqIds?.length ?? 0) > max)
      return parameterFault("dlqIds", `must hold at most ${max} values`);
    return { ...query, page: { ...query.page, limit: Math.min(query.page.limit, max) } };
  };

function parseFunctionStates(values: QueryValues): readonly FunctionState[] | undefined | Fault {
  const names = several(values, ["failureFunctionState", "failureCallbackState"]);
  if (!names || isFault(names)) return names;
  const states = functionStates.filter((state) => names.includes(state));
  const isKnown = names.every((name) => states.some((state) => state === name));
  return isKnown
    ? states
    : parameterFault("failureFunctionState", `must be one of ${functionStates.join(", ")}`);
}

function parseUrls(values: QueryValues): readonly string[] | undefined | Fault {
  const urls = severalUrls(values, ["workflowUrl"]);
  if (urls === undefined || isFault(urls)) return urls;
  return urls.some((url) => !/^https?:\/\//.test(url))
    ? parameterFault("workflowUrl", "must begin with http:// or https://")
    : urls;
}
