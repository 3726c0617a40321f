/**
 * The settings of a policy as rows: the header of each, its meaning in a retry of a dead letter, and the fields that
 * show it. `inCallbacks` of the domain says whether a callback has the setting, with a header of its own.
 */
import { type Policy } from "@posthaste/domain";
import * as z from "zod";
import { type JsonOf } from "../representations/schemas.ts";
import { type Header } from "./setting.ts";
import { parseLabels, parseRedaction, parseRetries, parseTimeoutMs } from "./values.ts";

type PolicySetting<Value> = {
  /** The header, or `several`, whose value `settingsOf` and the callbacks of `complete.ts` make. */
  readonly header: Header<Value> | "several";
  /** The fields of messages, dead letters, logs and schedules that show the value; or why there are no such fields. */
  readonly shown: Shown<Value> | "under two names" | "nowhere";
};

type Shown<Value> = {
  readonly shape: z.ZodRawShape;
  json(value: Value): object;
};

/** A setting of the policy without a row does not compile. */
type Rows = { readonly [Key in keyof Values]: PolicySetting<Values[Key]> };
type Values = Required<Policy>;

export const policySettings = {
  callback: {
    header: "several",
    shown: shown({ callback: z.string().optional() }, ({ url }: { readonly url: string }) => ({
      callback: url,
    })),
  },
  failureCallback: {
    header: "several",
    shown: shown(
      { failureCallback: z.string().optional() },
      ({ url }: { readonly url: string }) => ({ failureCallback: url }),
    ),
  },
  labels: {
    header: {
      suffix: "Label",
      rule: "Comma-separated labels by which logs and lists of dead letters find the message.",
      fallback: "none",
      example: "orders,north",
      read: parseLabels,
      retry: "changes",
    },
    shown: shown(
      {
        label: z.string().optional().describe("The first label"),
        labels: z.array(z.string()).optional(),
      },
      (labels: Policy["labels"]) => (labels[0] === undefined ? {} : { label: labels[0], labels }),
    ),
  },
  flow: {
    header: "several",
    shown: shown(
      {
        flowControlKey: z.string().optional(),
        parallelism: z.int().optional(),
        rate: z.int().optional(),
        period: z
          .int()
          .optional()
          .describe("Seconds; present whenever there is a flow control key"),
      },
      ({ key, limits: { parallelism, periodMs, rate } }: NonNullable<Policy["flow"]>) => ({
        flowControlKey: key,
        ...(parallelism !== undefined && { parallelism }),
        ...(rate !== undefined && { rate }),
        period: Math.ceil(periodMs / 1_000),
      }),
    ),
  },
  retryDelay: {
    header: "several",
    shown: shown({ retryDelayExpression: z.string().optional() }, (expression: string) => ({
      retryDelayExpression: expression,
    })),
  },
  timeoutMs: {
    header: {
      suffix: "Timeout",
      rule: "Duration such as 30s, 5m or 1h30m: the longest time from connecting to the last byte of the answer; bounded by the plan.",
      fallback: "the plan's",
      example: "30s",
      read: parseTimeoutMs,
      retry: "changes",
    },
    shown: shown({ timeout: z.int().describe("Milliseconds") }, (timeout: number) => ({ timeout })),
  },
  retriesMax: {
    header: {
      suffix: "Retries",
      rule: "Integer: retries after a failed delivery, so that deliveries are at most 1 + retries.",
      fallback: "the plan's default; for a callback, its message's",
      example: "3",
      read: parseRetries,
      retry: "changes",
    },
    // `maxRetries` of a message, `retries` of a schedule.
    shown: "under two names",
  },
  redaction: {
    header: {
      suffix: "Redact-Fields",
      rule: "Comma-separated list of body, headers, header[<name>]: shown as REDACTED:<SHA-256> everywhere except at the destination.",
      fallback: "none",
      example: "body,header[Authorization]",
      read: parseRedaction,
      retry: "changes",
    },
    shown: "nowhere",
  },
} as const satisfies Rows;

function shown<Value, Shape extends z.ZodRawShape>(
  shape: Shape,
  json: (value: Value) => JsonOf<z.ZodObject<Shape>>,
) {
  return { shape, json };
}

const rows: Rows = policySettings;
const isKey = (key: string): key is keyof Policy => key in rows;
export const policyKeys: readonly (keyof Policy)[] = Object.keys(rows).filter(isKey);

export const rowOf = <Key extends keyof Values>(key: Key): PolicySetting<Values[Key]> => rows[key];

/** The settings that reads show, in the order of their rows. */
export const shownSettings = policyKeys.flatMap((key) => {
  const shown: Shown<unknown> | string = rows[key].shown;
  return typeof shown === "string" ? [] : [{ key, shown }];
});
