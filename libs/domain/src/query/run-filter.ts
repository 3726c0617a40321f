/** Filters of lists of runs. Each list: any of; between filters: all of. */
import { type DlqId, type MessageId, type RunId } from "../shared/ids.ts";
import { type Run, type RunIn, type RunState } from "../workflow/run.ts";
import { among, isAtHost, isAtPath } from "./matches.ts";
import { holds, type Terms } from "./terms.ts";

/** Times are inclusive, in Unix milliseconds: of the start, or in the list of dead letters of the failure. */
export type RunFilter = {
  readonly id?: RunId;
  readonly createdAt?: number;
  /** These uses of ids. */
  readonly runs?: readonly RunUse[];
  readonly roots?: readonly MessageId[];
  readonly urls?: readonly string[];
  /** The URL begins with one of these. */
  readonly urlPrefixes?: readonly string[];
  /** With or without the port. */
  readonly hosts?: readonly string[];
  /** Without the query. */
  readonly paths?: readonly string[];
  readonly labels?: readonly string[];
  readonly flowControlKeys?: readonly string[];
  readonly callerIps?: readonly string[];
  readonly states?: readonly RunState["kind"][];
  readonly from?: number;
  readonly to?: number;
};

export type RunUse = Pick<Run, "id" | "createdAt">;

/** Of runs that are active. */
export type ActiveRunFilter = Omit<RunFilter, "states" | "runs" | "roots">;

export type FailedRunFilter = Omit<RunFilter, "states" | "runs" | "roots"> & {
  readonly dlqIds?: readonly DlqId[];
  /** Of the response that failed it; 0 where there was none. */
  readonly statuses?: readonly number[];
};

/** Filters of the list by the times of starts. */
export const matchesRun = (filter: RunFilter, run: Run): boolean => holds(runTerms, filter, run);

/** Filters of the list by the times of failures. */
export const matchesFailedRun = (filter: FailedRunFilter, run: RunIn<"failed">): boolean =>
  holds(failedRunTerms, filter, run);

const common: Terms<Omit<ActiveRunFilter, "from" | "to">, Run> = {
  id: (id, run) => run.id === id,
  createdAt: (createdAt, run) => run.createdAt === createdAt,
  urls: (urls, { url }) => urls.includes(url),
  urlPrefixes: (prefixes, { url }) => prefixes.some((prefix) => url.startsWith(prefix)),
  hosts: (hosts, { url }) => isAtHost(hosts, url),
  paths: (paths, { url }) => isAtPath(paths, url),
  labels: (labels, { plan }) => plan.policy.labels.some((label) => labels.includes(label)),
  flowControlKeys: (keys, { plan }) => among(keys, plan.policy.flow?.key),
  callerIps: (addresses, { callerIp }) => addresses.includes(callerIp),
};

const runTerms: Terms<RunFilter, Run> = {
  ...common,
  runs: (runs, { id, createdAt }) =>
    runs.some((use) => use.id === id && use.createdAt === createdAt),
  roots: (roots, { root }) => roots.includes(root),
  states: (states, { state }) => states.includes(state.kind),
  from: (from, { createdAt }) => createdAt >= from,
  to: (to, { createdAt }) => createdAt <= to,
};

const failedRunTerms: Terms<FailedRunFilter, RunIn<"failed">> = {
  ...common,
  dlqIds: (ids, { state }) => ids.includes(state.failure.dlqId),
  statuses: (statuses, { state }) => statuses.includes(state.failure.status ?? 0),
  from: (from, { state }) => state.endedAt >= from,
  to: (to, { state }) => state.endedAt <= to,
};
