/** The body of a wait, from an endpoint: the step, how long it waits, and the message at the timeout. */
import {
  canonicalName,
  type Fault,
  fault,
  isFault,
  limits,
  parseDuration,
} from "@posthaste/domain";
import * as z from "zod";
import { validated } from "../bodies/json.ts";

const headersSchema = z.record(z.string(), z.array(z.string()));

const waitSchema = z.object({
  url: z.string(),
  timeout: z.union([z.string(), z.number()]).nullish(),
  timeoutUrl: z.string().nullish(),
  timeoutBody: z.string().nullish(),
  timeoutHeaders: headersSchema.nullish(),
  step: z.looseObject({ stepId: z.int() }),
});

export type WaitBody = {
  readonly url: string;
  readonly timeoutMs: number;
  readonly timeoutUrl?: string;
  readonly timeoutBody?: string;
  readonly timeoutHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly step: Readonly<Record<string, unknown>>;
};

const timeoutMsDefault = 7 * 86_400_000;

/** Never returns a fault with 400, which an endpoint takes for the end of its run. */
export function parseWait(json: unknown): WaitBody | Fault {
  const read = validated(json, waitSchema, "");
  if (isFault(read)) return { ...read, fault: "run_refused" };
  const { url, step, timeout, timeoutBody, timeoutHeaders, timeoutUrl } = read;
  if (isLong(step)) return stepIsTooLong;
  const timeoutMs = timeout == null ? timeoutMsDefault : parseDuration(String(timeout));
  if (timeoutMs === undefined || timeoutMs > limits.runWaitMsMax)
    return fault("run_refused", "timeout: must be a duration such as 20s or 7d, of a year at most");
  return {
    url,
    timeoutMs,
    step,
    ...(timeoutUrl != null && { timeoutUrl }),
    ...(timeoutBody != null && { timeoutBody }),
    ...(timeoutHeaders && { timeoutHeaders: onceEach(timeoutHeaders) }),
  };
}

/** Reports whether a step is too long, since its result repeats all of it. */
export const isLong = (step: object): boolean =>
  JSON.stringify(step).length > limits.runStepBytesMax;

export const stepIsTooLong = fault(
  "run_refused",
  `step: must have at most ${limits.runStepBytesMax} bytes`,
);

/** Writes names in canonical form; of two spellings of one name the first is used. */
function onceEach(headers: Readonly<Record<string, readonly string[]>>) {
  const once = new Map<string, readonly string[]>();
  for (const [name, values] of Object.entries(headers)) {
    const canonical = canonicalName(name);
    if (!once.has(canonical)) once.set(canonical, values);
  }
  return Object.fromEntries(once);
}
