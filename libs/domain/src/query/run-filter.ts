/** What a caller may ask of lists of runs. Each list: any of; between filters: all of. Times are the lists' own to compare. */
import { type DlqId, type MessageId, type RunId } from "../shared/ids.ts";
import { type Run, type RunState } from "../workflow/run.ts";
import { among } from "./matches.ts";

/** Times are inclusive, in Unix milliseconds: of the start, or in the list of dead letters of the failure. */
export type RunFilter = {
  readonly id?: RunId;
  readonly createdAt?: number;
  /** These uses of ids. */
  readonly runs?: readonly RunUse[];
  readonly roots?: readonly MessageId[];
  readonly urls?: readonly string[];
  readonly labels?: readonly string[];
  readonly flowControlKeys?: readonly string[];
  readonly callerIps?: readonly string[];
  readonly states?: readonly RunState["kind"][];
  readonly from?: number;
  readonly to?: number;
};

export type RunUse = Pick<Run, "id" | "createdAt">;

/** Of runs that are active. */
export type ActiveRunFilter = Omit<RunFilter, "states" | "runs" | "roots"> & {
  /** The URL begins with one of these. */
  readonly urlPrefixes?: readonly string[];
};

export type FailedRunFilter = Omit<RunFilter, "states" | "runs" | "roots"> & {
  readonly dlqIds?: readonly DlqId[];
};

export function matchesRun(filter: RunFilter & FailedRunFilter, run: Run): boolean {
  const { callerIp, createdAt, id, plan, root, state, url } = run;
  const { dlqIds, labels, runs } = filter;
  const dlqId = state.kind === "failed" ? state.failure.dlqId : undefined;
  return (
    (filter.id === undefined || filter.id === id) &&
    (filter.createdAt === undefined || filter.createdAt === createdAt) &&
    (runs === undefined || runs.some((use) => use.id === id && use.createdAt === createdAt)) &&
    among(filter.roots, root) &&
    among(filter.urls, url) &&
    (labels === undefined || plan.policy.labels.some((label) => labels.includes(label))) &&
    among(filter.flowControlKeys, plan.policy.flow?.key) &&
    among(filter.callerIps, callerIp) &&
    among(filter.states, state.kind) &&
    among(dlqIds, dlqId)
  );
}
