/** The one table of configuration headers: suffix → what becomes of the value (docs/design/wire#dialects). */
import { type Fault } from "@posthaste/domain";
import { dialectOf, prefixLength } from "../wire/dialects.ts";
import { bytesOfText } from "../wire/text.ts";
import { publishSettings } from "./publish-settings.ts";
import { runSettings } from "./run-settings.ts";
import { scheduleSettings } from "./schedule-settings.ts";
import { into, requestSettings } from "./request-settings.ts";
import {
  type Bounds,
  type Field,
  type PublishDraft,
  type RequestDraft,
  type Setting,
} from "./setting.ts";
import { parseUrl } from "./values.ts";

export type Handler = (field: Field, draft: PublishDraft, bounds: Bounds) => Fault | undefined;

/** Whose request a header configures. A callback's headers are the message's, with the family before them. */
const families = [
  { prefix: "", of: (draft: PublishDraft): RequestDraft => draft.message },
  { prefix: "Callback-", of: (draft: PublishDraft): RequestDraft => draft.callback },
  { prefix: "Failure-Callback-", of: (draft: PublishDraft): RequestDraft => draft.failureCallback },
] as const;

/** Clients of workflows before 1.0 send it with each call: where the delivery of its answer has failed for good, this is told. */
const ofAnswer = {
  prefix: "Callback-Failure-Callback-",
  of: (draft: PublishDraft): RequestDraft => draft.answerFailure,
} as const;
const answerFailure = "callback-failure-callback";
const allFamilies = [...families, ofAnswer];

const wholeSettings = [...publishSettings, ...scheduleSettings];

/** By lower-case suffix. What is not in it and begins with none of `forwardPrefixes` is for `refuseUnknown` to judge. */
export const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...wholeSettings.map(({ suffix, take }): [string, Handler] => [suffix.toLowerCase(), take]),
  ...runSettings.map(({ suffix, take }): [string, Handler] => [
    suffix.toLowerCase(),
    (field, draft, bounds) => take(field, draft.run, bounds),
  ]),
  [
    answerFailure,
    (field, draft, bounds) =>
      into(parseUrl(field, bounds), (url) => (draft.answerFailureUrl = url)),
  ],
  ...allFamilies.flatMap(({ prefix, of }) =>
    requestSettings.map(({ suffix, take }): [string, Handler] => [
      (prefix + suffix).toLowerCase(),
      (field, draft, bounds) => take(field, of(draft), bounds),
    ]),
  ),
]);

const urlSuffixes: ReadonlySet<string> = new Set([
  ...wholeSettings.flatMap(({ suffix, isUrl }) => (isUrl ? [suffix.toLowerCase()] : [])),
  answerFailure,
]);

/** The value of a header in JSON as Node would give it of a header: a URL in UTF-8, any other value with each character for a byte. */
export function bytesOfValue(name: string, value: string): string {
  const lower = name.toLowerCase();
  const isUrl = dialectOf(lower) !== undefined && urlSuffixes.has(lower.slice(prefixLength));
  return isUrl ? bytesOfText(value) : value;
}

/** What follows one of these is the name of a header to send. */
export const forwardPrefixes = allFamilies.map(({ prefix, of }) => ({
  prefix: `${prefix}Forward-`.toLowerCase(),
  written: `${prefix}Forward-`,
  of,
}));

export type HeaderRule = Pick<Setting<never>, "suffix" | "rule" | "fallback" | "example">;

/** For the documents: headers by their full suffixes. Headers that only older clients send are left out. */
export const headerRules: readonly HeaderRule[] = [
  ...families.flatMap(({ prefix }) => [
    ...requestSettings.map((row) => ({ ...ruleOf(row), suffix: prefix + row.suffix })),
    {
      suffix: `${prefix}Forward-*`,
      rule: "Sent without the prefix and Forward-.",
      ...{ fallback: "none", example: "north" },
    },
  ]),
  ...[...wholeSettings, ...runSettings].map(ruleOf),
];

function ruleOf({ example, fallback, rule, suffix }: HeaderRule): HeaderRule {
  return { suffix, rule, fallback, example };
}

/** Each as it is written, by lower case. */
export const suffixes: ReadonlyMap<string, string> = new Map(
  headerRules.map(({ suffix }) => [suffix.toLowerCase(), suffix]),
);

/** Whether a lower-case suffix means anything to us. */
export const isConfiguration = (suffix: string): boolean =>
  handlers.has(suffix) || forwardPrefixes.some(({ prefix }) => suffix.startsWith(prefix));
