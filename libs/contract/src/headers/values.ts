/** Value formats that several headers share. Each parser returns the value, or a fault that names the header. */
import {
  type FlowLimits,
  type Fault,
  type Method,
  type Redaction,
  beyondQuota,
  flowPeriodMsDefault,
  limits,
  methods,
  parseDuration,
  untilMs,
} from "@posthaste/domain";
import { isHeaderValue, isToken, textOfBytes } from "../wire/text.ts";
import { type Bounds, type Field, malformed } from "./setting.ts";

const knownMethods: ReadonlyMap<string, Method> = new Map(methods.map((name) => [name, name]));

export const parseMethod = (field: Field): Method | Fault =>
  knownMethods.get(field.value) ?? malformed(field, `must be one of ${methods.join(", ")}`);

export function parseUrl({ name, value }: Field, { readUrl }: Bounds): string | Fault {
  const text = textOfBytes(value);
  return text === undefined
    ? malformed({ name }, "must be UTF-8, or percent-encoded")
    : readUrl(text, name);
}

export function parseRetries(field: Field, { plan }: Bounds): number | Fault {
  if (!/^\d{1,10}$/.test(field.value)) return malformed(field, "must be an integer of 0 or more");
  const retries = Number(field.value);
  return retries > plan.retriesMax ? beyondQuota("maxRetries", plan.retriesMax) : retries;
}

const durationForm = "must be a duration such as 30s, 5m or 1h30m (units s, m, h, d)";

export function parseTimeoutMs(field: Field, { plan }: Bounds): number | Fault {
  const timeoutMs = parseDuration(field.value);
  if (timeoutMs === undefined) return malformed(field, durationForm);
  if (timeoutMs === 0) return malformed(field, "must be longer than 0s");
  return timeoutMs > plan.timeoutMsMax ? beyond("maxTimeout", plan.timeoutMsMax) : timeoutMs;
}

export function parseDelayMs(field: Field, { plan }: Bounds): number | Fault {
  const delayMs = parseDuration(field.value);
  if (delayMs === undefined) return malformed(field, durationForm);
  return delayMs > plan.delayMsMax ? beyond("maxDelay", plan.delayMsMax) : delayMs;
}

/** Parses Unix seconds with an optional fraction into whole Unix milliseconds. Accepting the message turns a past time into now. */
export function parseNotBefore(field: Field): number | Fault {
  const [, seconds, fraction = ""] = /^(\d{1,12})(?:\.(\d{1,16}))?$/.exec(field.value) ?? [];
  if (seconds === undefined) {
    return malformed(field, "must be a Unix timestamp in seconds (UTC), not in milliseconds");
  }
  return Number(seconds) * 1_000 + Number(fraction.slice(0, 3).padEnd(3, "0"));
}

export const faultOfNotBefore = (at: number, { plan, now }: Bounds): Fault | undefined =>
  untilMs(at, Infinity, now) > plan.delayMsMax ? beyond("maxDelay", plan.delayMsMax) : undefined;

/** The fault names seconds, as callers write them. */
const beyond = (quota: string, msMax: number): Fault =>
  beyondQuota(quota, Math.floor(msMax / 1_000));

export function parseBoolean(field: Field): boolean | Fault {
  const value = field.value.toLowerCase();
  if (value === "true") return true;
  return value === "false" ? false : malformed(field, "must be true or false");
}

export function parseLabels(field: Field): readonly string[] | Fault {
  const labels = field.value.split(",", limits.labelsMax + 1).map((label) => label.trim());
  if (labels.length > limits.labelsMax) {
    return malformed(field, `must hold at most ${limits.labelsMax} labels`);
  }
  const fits = (label: string) => label.length > 0 && label.length <= limits.labelLengthMax;
  if (labels.every((label) => fits(label) && isHeaderValue(label))) return labels;
  const form = `1 to ${limits.labelLengthMax} visible ASCII characters each`;
  return malformed(field, `must be a comma-separated list of labels, ${form}`);
}

export function parseKey(field: Field): string | Fault {
  const { value } = field;
  if (value.length > 0 && value.length <= limits.keyLengthMax && isHeaderValue(value)) return value;
  return malformed(field, `must be 1 to ${limits.keyLengthMax} visible ASCII characters`);
}

const flowForm = "must look like parallelism=<n>, rate=<n>, period=<duration>";
const flowPartsMax = 3;

/** Parses the three parts in any order, each at most once, with at least one of parallelism and rate. */
export function parseFlowLimits(field: Field): FlowLimits | Fault {
  const parts = field.value.split(",", flowPartsMax + 1);
  if (parts.length > flowPartsMax) return malformed(field, flowForm);
  const given = new Map<string, number>();
  for (const part of parts) {
    const equalsAt = part.indexOf("=");
    const name = part.slice(0, Math.max(equalsAt, 0)).trim();
    if (given.has(name)) return malformed(field, `${name} must be given once`);
    const value = parseFlowPart(field, name, part.slice(equalsAt + 1).trim());
    if (typeof value !== "number") return value;
    given.set(name, value);
  }
  const parallelism = given.get("parallelism");
  const rate = given.get("rate");
  if (parallelism === undefined && rate === undefined) {
    return malformed(field, "must hold parallelism, rate or both");
  }
  return {
    ...(parallelism !== undefined && { parallelism }),
    ...(rate !== undefined && { rate }),
    periodMs: given.get("period") ?? flowPeriodMsDefault,
  };
}

function parseFlowPart(field: Field, name: string, value: string): number | Fault {
  if (name === "period") {
    const periodMs = parseDuration(value);
    if (periodMs !== undefined && periodMs > 0 && periodMs <= limits.flowPeriodMsMax)
      return periodMs;
    return malformed(field, "period must be seconds or a duration, from 1s to 7d");
  }
  if (name !== "parallelism" && name !== "rate") return malformed(field, flowForm);
  const count = /^\d{1,7}$/.test(value) ? Number(value) : 0;
  if (count >= 1 && count <= limits.flowValueMax) return count;
  return malformed(field, `${name} must be an integer from 1 to ${limits.flowValueMax}`);
}

const redactForm = "must be a comma-separated list of body, headers and header[<name>]";

/**
 * Accepts `header`, which SDKs write, and `headers`, which the documentation writes: both mean all headers, and both
 * may have a name in brackets.
 */
export function parseRedaction(field: Field): Redaction | Fault {
  const items = field.value.toLowerCase().split(",", limits.redactItemsMax + 1);
  if (items.length > limits.redactItemsMax) {
    return malformed(field, `must hold at most ${limits.redactItemsMax} items`);
  }
  let body = false;
  let all = false;
  const names: string[] = [];
  for (const item of items.map((text) => text.trim())) {
    if (item === "body") body = true;
    else if (item === "header" || item === "headers") all = true;
    else {
      const name = /^headers?\[([^\]]+)\]$/.exec(item)?.[1];
      if (name === undefined || !isToken(name)) return malformed(field, redactForm);
      names.push(name);
    }
  }
  return { body, headers: all ? "all" : names };
}

/** Returns how often a chain of messages has passed through this service, this publish included (docs/design/delivery#loops). */
export function parseHop(field: Field): number | Fault {
  if (!/^\d{1,4}$/.test(field.value)) return malformed(field, "must be an integer");
  const hop = Number(field.value) + 1;
  if (hop <= limits.hopsMax) return hop;
  const text = `loop_detected: the message has passed through this service ${limits.hopsMax} times`;
  return malformed(field, text);
}
