/** The fields of a publish: every setting for people, with the API's name for it. */
import { settingNames } from "@posthaste/client/api";
import { type Input } from "../parts/fields.tsx";
import { type Publication, type SettingName } from "../rules/publication.ts";

type Said = readonly [
  name: SettingName,
  label: string,
  hint?: string | undefined,
  kind?: Input["kind"],
];

const methods = ["POST", "GET", "PUT", "PATCH", "DELETE"].map(
  (method) => [method === "POST" ? "" : method, method] as const,
);

const schedule: readonly Said[] = [
  [
    "cron",
    "Cron",
    "Minute, hour, day of month, month, day of week; CRON_TZ=Europe/Berlin in front sets the time zone.",
  ],
  ["scheduleId", "Id of the schedule", "An existing schedule with this id is replaced."],
];
const delivery: readonly Said[] = [
  ["method", "Method", undefined, methods],
  ["queueName", "Queue", "A queue delivers in order."],
  ["label", "Labels", "Separated by commas."],
  ["delay", "Delay", "Such as 50s, 10m or 1d10h30m."],
  ["notBefore", "Not before", "Unix seconds; takes precedence over the delay."],
  ["timeout", "Time-out", "For one attempt, such as 30s."],
  ["retries", "Retries", "Attempts after the first."],
  ["retryDelay", "Retry delay", "Milliseconds, such as 1000 * pow(2, retried)."],
];
const rest: readonly Said[] = [
  ["flowControlKey", "Flow key", "Messages with the same flow key share its limits."],
  ["flowControlValue", "Limits of the flow key", "Such as parallelism=2, rate=10, period=1m."],
  ["deduplicationId", "Deduplication id", "Accepted once in ten minutes."],
  [
    "contentBasedDeduplication",
    "Deduplicate by content",
    undefined,
    [
      ["", "no"],
      ["true", "yes"],
    ],
  ],
  ["redactFields", "Redact", "body, headers or header[name]: shown as a hash."],
];
const callbackParts = [
  ["Method", "method"],
  ["Timeout", "time-out"],
  ["Retries", "retries"],
  ["RetryDelay", "retry delay"],
  ["Delay", "delay"],
  ["Label", "labels"],
  ["FlowControlKey", "flow key"],
  ["FlowControlValue", "limits of the flow key"],
] as const;
const callbackOf = (name: "callback" | "failureCallback", url: string): readonly Said[] => [
  [name, url],
  ...callbackParts.map(([suffix, words]): Said => [`${name}${suffix}`, `Callback ${words}`]),
];

export type InputGroup = {
  readonly title: string;
  readonly inputs: readonly Input[];
  /** Shown when opened, or when a field is set. */
  readonly isSeldom: boolean;
  /** Comes before the message itself. */
  readonly isFirst?: boolean;
};

export function groupsOfInputs(
  of: Publication | undefined,
  isSchedule: boolean,
): readonly InputGroup[] {
  const inputOf = ([name, label, hint, kind]: Said): Input => ({
    name,
    label,
    sentAs: `Service-${settingNames[name]}`,
    initial: of?.settings[name],
    ...(hint !== undefined && { hint }),
    ...(kind !== undefined && { kind }),
    ...(name === "cron" && { isRequired: true }),
  });
  const group = (title: string, said: readonly Said[], isSeldom = true): InputGroup => ({
    title,
    inputs: said.map(inputOf),
    isSeldom,
  });
  const once: ReadonlySet<SettingName> = new Set([
    "notBefore",
    "deduplicationId",
    "contentBasedDeduplication",
  ]);
  const fitting = (said: readonly Said[]): readonly Said[] =>
    isSchedule ? said.filter(([name]) => !once.has(name)) : said;
  return [
    ...(isSchedule ? [{ ...group("When", schedule, false), isFirst: true }] : []),
    group("Delivery", fitting(delivery), false),
    group("Limits, deduplication, redaction", fitting(rest)),
    group("Callback", callbackOf("callback", "URL that receives each answer")),
    group(
      "Failure callback",
      callbackOf("failureCallback", "URL that is called when all retries are used"),
    ),
  ];
}

export const messageInputs = (of: Publication | undefined): readonly Input[] => [
  {
    name: "destination",
    label: "Destination",
    initial: of?.destination,
    isRequired: true,
    isWide: true,
    hint: "A URL, or the name of a group.",
  },
  {
    name: "body",
    label: "Body",
    kind: "area",
    initial: of?.body,
    isWide: true,
  },
  {
    name: "contentType",
    label: "Content type",
    sentAs: "Content-Type",
    initial: of === undefined ? "application/json" : of.contentType,
  },
  {
    name: "forwarded",
    label: "Headers for the destination",
    sentAs: "Service-Forward-",
    kind: "area",
    initial: of?.forwarded.map(([name, value]) => `${name}: ${value}`).join("\n"),
    isWide: true,
    rows: 2,
    hint: "One per line, such as X-Order: 17",
  },
];
