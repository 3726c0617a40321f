/** The headers that configure a request beside its policy: a message, or, with `Callback-` or `Failure-Callback-` in front, a callback. */
import { limits } from "@posthaste/domain";
import { made, malformed, type RequestDraft, type Setting } from "./setting.ts";
import { parseDelayMs, parseFlowLimits, parseKey, parseMethod } from "./values.ts";

export const requestSettings: readonly Setting<RequestDraft>[] = [
  {
    suffix: "Method",
    rule: "One of GET, POST, PUT, PATCH, DELETE. The body is sent with each of them.",
    fallback: "POST",
    example: "PUT",
    key: "method",
    read: parseMethod,
    retry: "changes",
  },
  {
    suffix: "Retry-Delay",
    rule: "Expression for the delay in milliseconds before a retry: numbers, `retried` (0 for the first retry), + - * / ( ), pow, exp, sqrt, abs, floor, ceil, round, min, max.",
    fallback: "an exponential back-off",
    example: "1000 * (1 + retried)",
    // Checked once all retry counts are known, since it must be valid for each retry.
    key: "retryDelay",
    read: (field) =>
      field.value.length > limits.expressionLengthMax
        ? malformed(field, `must be at most ${limits.expressionLengthMax} characters`)
        : field,
    retry: "changes",
  },
  {
    suffix: "Delay",
    rule: "Duration before the first delivery, such as 50s, 10m or 1d10h30m.",
    fallback: "none",
    example: "10m",
    key: "delayMs",
    read: parseDelayMs,
    retry: "changes",
  },
  {
    suffix: "Flow-Control-Key",
    rule: "Messages of one key share limits; requires Flow-Control-Value.",
    fallback: "none",
    example: "carrier",
    key: "flowKey",
    read: (field) => made(parseKey(field), () => field),
    retry: "changes",
  },
  {
    suffix: "Flow-Control-Value",
    rule: "`parallelism=<n>, rate=<n>, period=<duration or seconds>` with at least one of the first two; the period is 1s by default and 7d at most; requires Flow-Control-Key.",
    fallback: "none",
    example: "parallelism=2, rate=10, period=1m",
    key: "flowLimits",
    read: (field) => made(parseFlowLimits(field), (flow) => ({ ...field, limits: flow })),
    retry: "changes",
  },
];

export const newRequest = (): RequestDraft => ({ settings: {}, forwarded: [] });
