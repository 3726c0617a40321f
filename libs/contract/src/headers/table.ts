/** The table of all configuration headers: the suffix, and what becomes of the value (docs/design/wire#dialects). */
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

/** The request that a header configures. A callback's headers are the message's with the family in front. */
const families = [
  { prefix: "", of: (draft: PublishDraft): RequestDraft => draft.message },
  { prefix: "Callback-", of: (draft: PublishDraft): RequestDraft => draft.callback },
  { prefix: "Failure-Callback-", of: (draft: PublishDraft): RequestDraft => draft.failureCallback },
] as const;

/**
 * Workflow clients before 1.0 send these with each call: told once the delivery of the call's answer has failed for good.
 */
const ofAnswer = {
  prefix: "Callback-Failure-Callback-",
  of: (draft: PublishDraft): RequestDraft => draft.answerFailure,
} as const;
const answerFailure = "callback-failure-callback";
const allFamilies = [...families, ofAnswer];

const wholeSettings = [...publishSettings, ...scheduleSettings];

/**
 * Handlers by lower-case suffix. A suffix that is not here and begins with none of `forwardPrefixes` goes to
 * `refuseUnknown`.
 */
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

/**
 * Returns the value of a header in JSON as Node would give it for a header: a URL in UTF-8, any other value with each
 * character as one byte.
 */
export function bytesOfValue(name: string, value: string): string {
  const lower = name.toLowerCase();
  const isUrl = dialectOf(lower) !== undefined && urlSuffixes.has(lower.slice(prefixLength));
  return isUrl ? bytesOfText(value) : value;
}

/** The name of a header to send follows one of these. */
export const forwardPrefixes = allFamilies.map(({ prefix, of }) => ({
  prefix: `${prefix}Forward-`.toLowerCase(),
  written: `${prefix}Forward-`,
  of,
}));

export type HeaderRule = Pick<Setting<never>, "suffix" | "rule" | "fallback" | "example">;

/** Headers by their full suffixes, for the documents. Headers that only older clients send are left out. */
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

/** Suffixes as they are written, by lower case. */
export const suffixes: ReadonlyMap<string, string> = new Map(
  headerRules.map(({ suffix }) => [suffix.toLowerCase(), suffix]),
);

export const isConfiguration = (suffix: string): boolean =>
  handlers.has(suffix) || forwardPrefixes.some(({ prefix }) => suffix.startsWith(prefix));
