/** The parts of a publish, and how to repeat an earlier one. */
import { type DeadLetter, type LogEntry, type Schedule, settingNames } from "@posthaste/client/api";
import { curlOf } from "./curl.ts";

export type SettingName = keyof typeof settingNames;
type Pair = readonly [name: string, value: string];

export type Publication = {
  readonly destination: string;
  readonly body: string;
  readonly contentType: string;
  /** As the destination receives them. */
  readonly forwarded: readonly Pair[];
  readonly settings: Readonly<Partial<Record<SettingName, string>>>;
  /** Parts that must be given again: redacted, binary, or no longer kept. */
  readonly missing: readonly string[];
};

type Body = { readonly text: string; readonly isBinary: boolean } | undefined;
type Made = LogEntry | DeadLetter | Schedule;

const isRedacted = (text: string): boolean => text.startsWith("REDACTED:");

export function publicationOf(made: Made, body: Body): Publication {
  const forwarded = Object.entries(made.header).flatMap(([name, values]) =>
    values.map((value): Pair => [name, value]),
  );
  const isType = ([name]: Pair): boolean => name.toLowerCase() === "content-type";
  const kept = forwarded.filter(([, value]) => !isRedacted(value));
  const isText = body !== undefined && !body.isBinary && !isRedacted(body.text);
  return {
    destination: "url" in made ? made.url : made.destination,
    body: isText ? body.text : "",
    contentType: kept.find(isType)?.[1] ?? "",
    forwarded: kept.filter((pair) => !isType(pair)),
    settings: settingsOf(made),
    missing: [
      ...(body !== undefined && !isText ? ["body"] : []),
      ...forwarded.filter(([, value]) => isRedacted(value)).map(([name]) => `header ${name}`),
    ],
  };
}

function settingsOf(made: Made): Publication["settings"] {
  const { flowControlKey, parallelism, rate, period } = made;
  const flow = [
    parallelism !== undefined && `parallelism=${parallelism}`,
    rate !== undefined && `rate=${rate}`,
    rate !== undefined && period !== undefined && `period=${period}`,
  ].filter((each) => each !== false);
  const all: Readonly<Partial<Record<SettingName, string | undefined>>> = {
    method: made.method === "POST" ? undefined : made.method,
    retries: String("maxRetries" in made ? made.maxRetries : made.retries),
    retryDelay: made.retryDelayExpression,
    timeout: `${Math.ceil(made.timeout / 1_000)}s`,
    label: made.labels?.join(", "),
    queueName: made.queueName,
    flowControlKey: flow.length > 0 ? flowControlKey : undefined,
    flowControlValue: flow.length > 0 ? flow.join(", ") : undefined,
    callback: made.callback,
    failureCallback: made.failureCallback,
    ...("cron" in made && {
      cron: made.cron,
      scheduleId: made.scheduleId,
      delay: made.delay === undefined ? undefined : `${made.delay}s`,
    }),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

export function headersOf({ contentType, settings, forwarded }: Publication): readonly Pair[] {
  const isSetting = (name: string): name is SettingName => name in settingNames;
  return [
    ...(contentType === "" ? [] : [["Content-Type", contentType] as const]),
    ...Object.entries(settings).flatMap(([name, value]) =>
      isSetting(name) && value !== "" ? [[`Service-${settingNames[name]}`, value] as const] : [],
    ),
    ...forwarded.map(([name, value]) => [`Service-Forward-${name}`, value] as const),
  ];
}

/** Returns the call that repeats the publication. `api`: the API's address. */
export const againAsCurl = (
  made: Publication,
  api: URL,
  way: "publish" | "schedules" = "publish",
): string =>
  curlOf({
    method: "POST",
    url: `${api.href}${way}/${made.destination}`,
    headers: headersOf(made),
    body: made.body,
  });

/** A call with a message. `path` is under `/v2/`. */
export type Sending = {
  readonly path: string;
  readonly headers: readonly Pair[];
  readonly body: string;
};

/**
 * Returns the retry of a dead letter that turns `was` into `now` and loses nothing that cannot be shown. Undefined if
 * a retry cannot: it keeps destination and queue, and removes nothing.
 */
export function retryOf(dlqId: string, was: Publication, now: Publication): Sending | undefined {
  const settings = Object.entries(now.settings).filter(
    ([name, value]) => value !== "" && value !== was.settings[name as SettingName],
  );
  const changed = new Set(settings.map(([name]) => name));
  const isGone = Object.entries(was.settings).some(
    ([name, value]) => value !== "" && (now.settings[name as SettingName] ?? "") === "",
  );
  const forwarded = [...now.forwarded, ...typeOf(now)];
  const given = Map.groupBy(forwarded, nameOf);
  const stored = Map.groupBy([...was.forwarded, ...typeOf(was)], nameOf);
  const isDropped = [...stored.keys()].some((name) => !given.has(name));
  const isOther = notOfARetry.some((name) => changed.has(name));
  if (now.destination !== was.destination || isGone || isDropped || isOther) return undefined;
  const isSame = (name: string): boolean => String(given.get(name)) === String(stored.get(name));
  const replaced = now.body === was.body ? "" : "?replaceBody=true";
  return {
    path: `dlq/retry/${encodeURIComponent(dlqId)}${replaced}`,
    headers: headersOf({
      ...now,
      contentType: "",
      settings: Object.fromEntries([...settings, ...callbacksOf(now, changed)]),
      forwarded: forwarded.filter((pair) => !isSame(nameOf(pair))),
    }),
    body: replaced === "" ? "" : now.body,
  };
}

/** Settings that the API refuses in a retry. */
const notOfARetry: readonly SettingName[] = [
  "queueName",
  "deduplicationId",
  "contentBasedDeduplication",
];

const nameOf = ([name]: Pair): string => name.toLowerCase();
const typeOf = ({ contentType }: Publication): readonly Pair[] =>
  contentType === "" ? [] : [["Content-Type", contentType]];

/** The API reads a callback's settings only beside its URL. */
const callbacksOf = ({ settings }: Publication, changed: ReadonlySet<string>): readonly Pair[] =>
  (["callback", "failureCallback"] as const).flatMap((name) =>
    settings[name] !== undefined && [...changed].some((each) => each.startsWith(name))
      ? [[name, settings[name]] as const]
      : [],
  );

export function pairsIn(text: string): readonly Pair[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line): Pair => {
      const at = line.indexOf(":");
      return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
}
