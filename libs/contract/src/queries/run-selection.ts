/** Which active runs are to be cancelled: by their ids, or by filters. */
import { type ActiveRunFilter, type Fault, isFault, type RunId, runId } from "@posthaste/domain";
import { integer, parameterFault, readQuery, several, single } from "./query-values.ts";
import { type CommonFilter, namesNoRun, parseCommon, parsePlace } from "./run-filter.ts";

export const cancelRunNames: ReadonlySet<string> = new Set([
  "workflowRunIds",
  "workflowUrl",
  "workflowUrlExactMatch",
  "host",
  "path",
  "label",
  "flowControlKey",
  "callerIp",
  "fromDate",
  "toDate",
  "count",
]);

/** Which runs are meant: by their ids, which win over everything else, or the newest that a filter finds. */
export type RunSelection =
  | { readonly kind: "ids"; readonly ids: readonly RunId[] }
  | {
      readonly kind: "filter";
      readonly filter: ActiveRunFilter;
      /** Absent: all. */
      readonly count?: number;
    };

const selectedDefault = 100;
const selectedMax = 1_000;

/** Undefined: nothing is said. */
export function parseRunSelection(search: string): RunSelection | undefined | Fault {
  const values = readQuery(search, cancelRunNames);
  if (isFault(values)) return values;
  if (values.size === 0) return undefined;
  const ids = several(values, ["workflowRunIds"]);
  if (isFault(ids)) return ids;
  if (ids) return selectedRuns(ids);
  const count = integer(values, "count", { min: 1, max: selectedMax });
  if (isFault(count)) return count;
  const isExact = single(values, "workflowUrlExactMatch") ?? "false";
  if (isFault(isExact)) return isExact;
  if (isExact !== "true" && isExact !== "false")
    return parameterFault("workflowUrlExactMatch", "must be true or false");
  const filter = parseCommon(values);
  if (isFault(filter)) return filter;
  const place = parsePlace(values);
  if (isFault(place)) return place;
  const whole = { ...withUrls(filter, isExact === "true"), ...place };
  if (count === undefined && Object.keys(whole).length === 0) return namesNoRun("workflowRunIds");
  return { kind: "filter", filter: whole, count: count ?? selectedDefault };
}

const withUrls = ({ urls, ...filter }: CommonFilter, isExact: boolean): ActiveRunFilter =>
  urls ? { ...filter, ...(isExact ? { urls } : { urlPrefixes: urls }) } : filter;

/** Of ids that a caller has listed. */
export const selectedRuns = (ids: readonly string[]): RunSelection | Fault =>
  ids.length > selectedMax
    ? parameterFault("workflowRunIds", `must hold at most ${selectedMax} values`)
    : { kind: "ids", ids: ids.map(runId) };

/** A filter of active runs as a caller would name it. */
export function activeRunFilterJson(
  filter: ActiveRunFilter,
): Readonly<Record<string, readonly string[]>> {
  const { callerIps, createdAt, flowControlKeys, from, hosts, id, labels, paths, to } = filter;
  const { urlPrefixes, urls } = filter;
  const given: readonly (readonly [
    string,
    readonly (string | number | undefined)[] | undefined,
  ])[] = [
    ["workflowUrl", urls ?? urlPrefixes],
    ["workflowUrlExactMatch", urls && ["true"]],
    ["workflowRunId", [id]],
    ["workflowCreatedAt", [createdAt]],
    ["host", hosts],
    ["path", paths],
    ["label", labels],
    ["flowControlKey", flowControlKeys],
    ["callerIp", callerIps],
    ["fromDate", [from]],
    ["toDate", [to]],
  ];
  return Object.fromEntries(
    given.flatMap(([name, values = []]) => {
      const texts = values.flatMap((value) => (value === undefined ? [] : String(value)));
      return texts.length > 0 ? [[name, texts]] : [];
    }),
  );
}

/** All that are active; of those with a URL that begins so. */
export const runsUnder = (url: string | undefined): RunSelection => ({
  kind: "filter",
  filter: url === undefined ? {} : { urlPrefixes: [url] },
});
