/** Filters of lists of runs. A list matches any of its values; all filters that are given must match. */
import { type DlqId, type MessageId, type RunId } from "../shared/ids.ts";
import { type Run, type RunIn, type RunState } from "../workflow/run.ts";
import { among, isAtHost, isAtPath } from "./matches.ts";
import { holds, type Terms } from "./terms.ts";

/** `from` and `to` are inclusive, in Unix milliseconds: of the start, or of the failure in the list of dead letters. */
export type RunFilter = {
  readonly id?: RunId;
  readonly createdAt?: number;
  readonly runs?: readonly RunUse[];
  readonly roots?: readonly MessageId[];
  readonly urls?: readonly string[];
  readonly urlPrefixes?: readonly string[];
  /** Hosts, with or without the port. */
  readonly hosts?: readonly string[];
  /** Paths, without the query. */
  readonly paths?: readonly string[];
  readonly labels?: readonly string[];
  readonly flowControlKeys?: readonly string[];
  readonly callerIps?: readonly string[];
  readonly states?: readonly RunState["kind"][];
  readonly from?: number;
  readonly to?: number;
};

type RunUse = Pick<Run, "id" | "createdAt">;

export type ActiveRunFilter = Omit<RunFilter, "states" | "runs" | "roots">;

export type FailedRunFilter = Omit<RunFilter, "states" | "runs" | "roots"> & {
  readonly dlqIds?: readonly DlqId[];
  /** Statuses of the response that failed the run; 0 means no response. */
  readonly statuses?: readonly number[];
};

/** Filters by the times of starts. */
export const matchesRun = (filter: RunFilter, run: Run): boolean => holds(runTerms, filter, run);

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
