/** Flow keys: the state of a key, and settings made by hand (docs/flow-control.md). */
import {
  type Fault,
  fault,
  type FlowLane,
  isFault,
  limits,
  type Pinned,
  type Pins,
  type RateWindow,
} from "@posthaste/domain";
import * as z from "zod";
import {
  integer,
  parameterFault,
  type QueryValues,
  readQuery,
  single,
} from "../queries/query-values.ts";
import { type JsonOf } from "../representations/schemas.ts";
import { isHeaderValue } from "../wire/text.ts";
import { endpoint } from "./endpoint.ts";

const flowKeySchema = z
  .object({
    flowControlKey: z.string(),
    waitListSize: z.int().describe("Messages that wait for their turn"),
    parallelismMax: z.int().describe("0: unlimited"),
    parallelismCount: z.int().describe("Slots in use now"),
    rateMax: z.int().describe("0: unlimited"),
    rateCount: z.int().describe("Dispatches in the present period"),
    ratePeriod: z.int().describe("Seconds"),
    ratePeriodStart: z.int().describe("Unix seconds; 0 if no period has begun"),
    isPaused: z.boolean(),
    isPinnedParallelism: z.boolean(),
    isPinnedRate: z.boolean(),
  })
  .meta({ id: "FlowKey" });

export type FlowKeyJson = JsonOf<typeof flowKeySchema>;

const globalParallelismSchema = z
  .object({
    parallelismMax: z.int().describe("The cap of the plan; 1,000,000 means no cap"),
    parallelismCount: z.int().describe("Calls under way"),
  })
  .meta({ id: "GlobalParallelism" });

const key = "/v2/flowControl/{flowControlKey}";

const pinParameters = new Set(["parallelism", "rate", "period"]);
const unpinParameters = new Set(["parallelism", "rate"]);

export const flowKeys = {
  listFlowKeys: endpoint({
    method: "get",
    path: "/v2/flowControl",
    kind: "list",
    summary: "List flow-control keys",
    query: { names: new Set(["search"]), parse: parseSearch },
    answers: {
      200: {
        says: `In the order of the keys, at most ${limits.flowKeysListedMax}`,
        schema: z.array(flowKeySchema),
        isLarge: true,
      },
    },
    faults: [],
  }),
  readFlowKey: endpoint({
    method: "get",
    path: key,
    kind: "read",
    summary: "Read the state of a flow-control key",
    answers: { 200: { says: "The key", schema: flowKeySchema } },
    faults: ["not_found"],
  }),
  pauseFlowKey: endpoint({
    method: "post",
    path: `${key}/pause`,
    kind: "act",
    summary: "Pause a flow-control key, which is made if it does not exist: its messages wait",
    answers: { 200: { says: "Paused" } },
    faults: ["forbidden"],
  }),
  resumeFlowKey: endpoint({
    method: "post",
    path: `${key}/resume`,
    kind: "act",
    summary: "Resume a flow-control key, which is made if it does not exist",
    answers: { 200: { says: "Resumed" } },
    faults: ["forbidden"],
  }),
  resetFlowRate: endpoint({
    method: "post",
    path: `${key}/resetRate`,
    kind: "act",
    summary: "Begin a period of a flow-control key now, with a count of zero",
    answers: { 200: { says: "Begun, or there is no such key" } },
    faults: ["forbidden"],
  }),
  resetFlowKey: endpoint({
    method: "post",
    path: `${key}/reset`,
    kind: "act",
    summary: "Do the same as resetRate, and restore the slots from the records",
    answers: { 200: { says: "Begun, or there is no such key" } },
    faults: ["forbidden"],
  }),
  readGlobalParallelism: endpoint({
    method: "get",
    path: "/v2/globalParallelism",
    kind: "read",
    summary: "Read how many calls the tenant may have at once, and how many it has now",
    answers: {
      200: { says: "The number over all messages of the tenant", schema: globalParallelismSchema },
    },
    faults: [],
  }),
  pinFlowKey: endpoint({
    method: "post",
    path: `${key}/pin`,
    kind: "write",
    summary: "Pin limits of a flow-control key, which is made if it does not exist",
    query: { names: pinParameters, parse: parsePin },
    answers: { 200: { says: "Pinned: publishes do not change these limits" } },
    faults: ["forbidden"],
  }),
  unpinFlowKey: endpoint({
    method: "post",
    path: `${key}/unpin`,
    kind: "write",
    summary: "Unpin limits of a flow-control key: the next publish sets them",
    query: { names: unpinParameters, parse: parseUnpin },
    answers: { 200: { says: "Unpinned" } },
    faults: ["forbidden", "not_found"],
  }),
};

function parseSearch(search: string): { readonly search: string } | Fault {
  const values = readQuery(search, new Set(["search"]));
  if (isFault(values)) return values;
  const text = single(values, "search");
  return isFault(text) ? text : { search: text ?? "" };
}

const limitRange = { min: 1, max: limits.flowValueMax };
const periodRange = { min: 1, max: limits.flowPeriodMsMax / 1_000 };

function parsePin(search: string): Pinned | Fault {
  const values = readQuery(search, pinParameters);
  if (isFault(values)) return values;
  const parallelism = integer(values, "parallelism", limitRange);
  if (isFault(parallelism)) return parallelism;
  const rate = integer(values, "rate", limitRange);
  if (isFault(rate)) return rate;
  const period = integer(values, "period", periodRange);
  if (isFault(period)) return period;
  if (parallelism === undefined && rate === undefined)
    return fault("malformed", "parallelism or rate must be given");
  if (rate === undefined && period !== undefined)
    return parameterFault("period", "can only be given with rate");
  const given = period !== undefined && { periodMs: period * 1_000 };
  return {
    ...(parallelism !== undefined && { parallelism }),
    ...(rate !== undefined && { rate: { rate, ...given } }),
  };
}

function parseUnpin(search: string): Pins | Fault {
  const values = readQuery(search, unpinParameters);
  if (isFault(values)) return values;
  const parallelism = parseFlag(values, "parallelism");
  if (isFault(parallelism)) return parallelism;
  const rate = parseFlag(values, "rate");
  if (isFault(rate)) return rate;
  return parallelism || rate
    ? { parallelism, rate }
    : fault("malformed", "parallelism=true or rate=true must be given");
}

function parseFlag(values: QueryValues, name: string): boolean | Fault {
  const value = single(values, name);
  if (isFault(value)) return value;
  if (value === undefined || value === "false") return false;
  return value === "true" || parameterFault(name, "must be true or false");
}

/** Accepts a key that a publish could name. */
export function parseFlowKey(key: string): string | Fault {
  const fits = key.length > 0 && key.length <= limits.keyLengthMax && key === key.trim();
  if (fits && isHeaderValue(key)) return key;
  const form = `must be 1 to ${limits.keyLengthMax} visible ASCII characters`;
  return parameterFault("flowControlKey", form);
}

export type FlowKeyView = {
  readonly lane: FlowLane;
  readonly waiting: number;
  readonly slots: number;
  readonly window: RateWindow | undefined;
};

/** Every field is always present. */
export function flowKeyJson({ lane, slots, waiting, window }: FlowKeyView): FlowKeyJson {
  const { parallelism = 0, rate = 0, periodMs } = lane.limits;
  return {
    flowControlKey: lane.key,
    waitListSize: waiting,
    parallelismMax: parallelism,
    parallelismCount: slots,
    rateMax: rate,
    rateCount: window?.count ?? 0,
    ratePeriod: Math.ceil(periodMs / 1_000),
    ratePeriodStart: Math.floor((window?.startedAt ?? 0) / 1_000),
    isPaused: lane.paused,
    isPinnedParallelism: lane.pins.parallelism,
    isPinnedRate: lane.pins.rate,
  };
}
