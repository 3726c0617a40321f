/** The parts of a publish, and how a publish that was made is made again. */
import { type DeadLetter, type LogEntry, type Schedule, settingNames } from "@posthaste/client/api";
import { curlOf } from "./curl.ts";

export type SettingName = keyof typeof settingNames;
type Pair = readonly [name: string, value: string];

export type Publication = {
  readonly destination: string;
  readonly body: string;
  readonly contentType: string;
  /** As the destination gets them. */
  readonly forwarded: readonly Pair[];
  readonly settings: Readonly<Partial<Record<SettingName, string>>>;
  /** Parts to be given again: they were redacted, are no text, or are not kept any more. */
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

/** As they are sent. */
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

/** Returns the call that makes it again. `api`: the address of the API. */
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

/** Reads lines of `name: value`. */
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
