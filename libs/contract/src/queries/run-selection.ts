/** Selects active runs to be cancelled, by their ids or by filters. */
import { type ActiveRunFilter, type Fault, isFault, type RunId, runId } from "@posthaste/domain";
import { field, type Fields, namesOf, notAsked, place, readFields, shownFields } from "./fields.ts";
import {
  flag,
  integer,
  parameterFault,
  type QueryValues,
  readQuery,
  several,
} from "./query-values.ts";
import { commonFields, namesNoRun } from "./run-filter.ts";

const isExact = (values: QueryValues): boolean | Fault => flag(values, "workflowUrlExactMatch");

const fields: Fields<ActiveRunFilter> = {
  ...commonFields,
  urls: field(["workflowUrl"], (values) => {
    const exact = isExact(values);
    return isFault(exact) ? exact : exact ? commonFields.urls.read(values) : undefined;
  }),
  urlPrefixes: field(["workflowUrl", "workflowUrlExactMatch"], (values) =>
    isExact(values) === false ? commonFields.urls.read(values) : undefined,
  ),
  id: notAsked("workflowRunId"),
  createdAt: notAsked("workflowCreatedAt"),
  ...place,
};

export const cancelRunNames: ReadonlySet<string> = new Set([
  "workflowRunIds",
  ...namesOf(fields),
  "count",
]);

/** The selected runs: by ids, which take precedence over everything else, or the newest that a filter finds. */
export type RunSelection =
  | { readonly kind: "ids"; readonly ids: readonly RunId[] }
  | {
      readonly kind: "filter";
      readonly filter: ActiveRunFilter;
      /** Absent for all. */
      readonly count?: number;
    };

const selectedDefault = 100;
const selectedMax = 1_000;

/** Returns undefined when no parameter is given. */
export function parseRunSelection(search: string): RunSelection | undefined | Fault {
  const values = readQuery(search, cancelRunNames);
  if (isFault(values)) return values;
  if (values.size === 0) return undefined;
  const ids = several(values, ["workflowRunIds"]);
  if (isFault(ids)) return ids;
  if (ids) return selectedRuns(ids);
  const count = integer(values, "count", { min: 1, max: selectedMax });
  if (isFault(count)) return count;
  const filter = readFields(fields, values);
  if (isFault(filter)) return filter;
  if (count === undefined && Object.keys(filter).length === 0) return namesNoRun("workflowRunIds");
  return { kind: "filter", filter, count: count ?? selectedDefault };
}

export const selectedRuns = (ids: readonly string[]): RunSelection | Fault =>
  ids.length > selectedMax
    ? parameterFault("workflowRunIds", `must hold at most ${selectedMax} values`)
    : { kind: "ids", ids: ids.map(runId) };

/** Returns a filter of active runs under the names that a caller would use. */
export const activeRunFilterJson = (filter: ActiveRunFilter) => ({
  ...shownFields(fields, filter),
  ...(filter.urls && { workflowUrlExactMatch: ["true"] }),
});

/** Selects all active runs, or those whose URL begins with `url`. */
export const runsUnder = (url: string | undefined): RunSelection => ({
  kind: "filter",
  filter: url === undefined ? {} : { urlPrefixes: [url] },
});
