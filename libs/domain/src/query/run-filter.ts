/** What a caller may ask of lists of runs. Each list: any of; between filters: all of. Times are the lists' own to compare. */
import { type DlqId, type MessageId, type RunId } from "../shared/ids.ts";
import { type Run, type RunState } from "../workflow/run.ts";
import { among, matchesPlace } from "./matches.ts";

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

export function matchesRun(filter: RunFilter & FailedRunFilter, run: Run): boolean {
  const { callerIp, createdAt, id, plan, root, state, url } = run;
  const { dlqIds, labels, runs, statuses, urlPrefixes } = filter;
  const dlqId = state.kind === "failed" ? state.failure.dlqId : undefined;
  return (
    (filter.id === undefined || filter.id === id) &&
    (filter.createdAt === undefined || filter.createdAt === createdAt) &&
    (runs === undefined || runs.some((use) => use.id === id && use.createdAt === createdAt)) &&
    among(filter.roots, root) &&
    among(filter.urls, url) &&
    (urlPrefixes === undefined || urlPrefixes.some((prefix) => url.startsWith(prefix))) &&
    matchesPlace(filter, run) &&
    (statuses === undefined ||
      (state.kind === "failed" && statuses.includes(state.failure.status ?? 0))) &&
    (labels === undefined || plan.policy.labels.some((label) => labels.includes(label))) &&
    among(filter.flowControlKeys, plan.policy.flow?.key) &&
    among(filter.callerIps, callerIp) &&
    among(filter.states, state.kind) &&
    among(dlqIds, dlqId)
  );
}
