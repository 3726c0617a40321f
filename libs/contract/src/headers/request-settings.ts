/** The headers that configure a request: a message, or with `Callback-` or `Failure-Callback-` in front a callback. */
import { type Fault, fault, isFault, limits } from "@posthaste/domain";
import { type RequestDraft, type Setting, malformed } from "./setting.ts";
import {
  parseDelayMs,
  parseFlowLimits,
  parseKey,
  parseLabels,
  parseMethod,
  parseRetries,
  parseTimeoutMs,
} from "./values.ts";

export const requestSettings: readonly Setting<RequestDraft>[] = [
  {
    suffix: "Method",
    rule: "One of GET, POST, PUT, PATCH, DELETE. The body is sent with each of them.",
    fallback: "POST",
    example: "PUT",
    take: (field, draft) => into(parseMethod(field), (method) => (draft.method = method)),
  },
  {
    suffix: "Timeout",
    rule: "Duration such as 30s, 5m or 1h30m: the longest time from connecting to the last byte of the answer; at most the plan's.",
    fallback: "the plan's",
    example: "30s",
    take: (field, draft, bounds) =>
      into(parseTimeoutMs(field, bounds), (timeoutMs) => (draft.timeoutMs = timeoutMs)),
  },
  {
    suffix: "Retries",
    rule: "Integer: retries after a failed delivery, so that deliveries are at most 1 + retries.",
    fallback: "the plan's, of a callback its message's",
    example: "3",
    take: (field, draft, bounds) =>
      into(parseRetries(field, bounds), (retriesMax) => (draft.retriesMax = retriesMax)),
  },
  {
    suffix: "Retry-Delay",
    rule: "Expression for the delay in milliseconds before a retry: numbers, `retried` (0 for the first retry), + - * / ( ), pow, exp, sqrt, abs, floor, ceil, round, min, max.",
    fallback: "an exponential back-off",
    example: "1000 * (1 + retried)",
    // Checked once all retry counts are known, since it must be valid for each retry.
    take: (field, draft) => {
      if (field.value.length > limits.expressionLengthMax) {
        return malformed(field, `must be at most ${limits.expressionLengthMax} characters`);
      }
      draft.retryDelay = field;
      return undefined;
    },
  },
  {
    suffix: "Delay",
    rule: "Duration before the first delivery, such as 50s, 10m or 1d10h30m.",
    fallback: "none",
    example: "10m",
    take: (field, draft, bounds) =>
      into(parseDelayMs(field, bounds), (delayMs) => (draft.delayMs = delayMs)),
  },
  {
    suffix: "Label",
    rule: "Comma-separated labels to find the message by in logs and among dead letters.",
    fallback: "none",
    example: "orders,north",
    take: (field, draft) => into(parseLabels(field), (labels) => (draft.labels = labels)),
  },
  {
    suffix: "Flow-Control-Key",
    rule: "Messages of one key share limits; requires Flow-Control-Value.",
    fallback: "none",
    example: "carrier",
    take: (field, draft) => into(parseKey(field), () => (draft.flowKey = field)),
  },
  {
    suffix: "Flow-Control-Value",
    rule: "`parallelism=<n>, rate=<n>, period=<duration or seconds>` with at least one of the first two; the period is 1s by default and 7d at most; requires Flow-Control-Key.",
    fallback: "none",
    example: "parallelism=2, rate=10, period=1m",
    take: (field, draft) =>
      into(parseFlowLimits(field), (flow) => (draft.flowLimits = { ...field, limits: flow })),
  },
];

/** Passes a good value on, and returns a fault. */
export function into<T>(value: T | Fault, set: (value: T) => void): Fault | undefined {
  if (isFault(value)) return value;
  set(value);
  return undefined;
}

/** Returns the flow control. A key needs a value and a value needs a key. */
export function flowOf(draft: RequestDraft) {
  const { flowKey, flowLimits } = draft;
  if (flowKey && flowLimits) return { key: flowKey.value, limits: flowLimits.limits };
  if (!flowKey && !flowLimits) return undefined;
  const name = (flowKey ?? flowLimits)?.name ?? "";
  const missing = name.replace(/(key|value)$/i, flowKey ? "Value" : "Key");
  return fault("malformed", `${name}: requires ${missing}`);
}
